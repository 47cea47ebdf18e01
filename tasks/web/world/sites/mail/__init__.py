"""Mail: folders, labels, search, threads, drafts, filters and an address book.

It is one person's mailbox: nobody else reads or writes in it, and tasks add the mail that others
have sent or will send.
"""
