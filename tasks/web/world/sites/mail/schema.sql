CREATE TABLE messages (id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, folder TEXT NOT NULL,
  sender TEXT NOT NULL, sender_name TEXT NOT NULL, recipients TEXT NOT NULL, cc TEXT NOT NULL,
  subject TEXT NOT NULL, body TEXT NOT NULL, sent TEXT NOT NULL, starred INTEGER NOT NULL DEFAULT 0,
  files TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'sent',
  parent INTEGER NOT NULL DEFAULT 0, forwarded INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL DEFAULT '');
CREATE INDEX messages_by_folder ON messages (folder, sent);
CREATE INDEX messages_by_thread ON messages (thread);
CREATE TABLE tagged (id INTEGER PRIMARY KEY, message INTEGER NOT NULL, label TEXT NOT NULL);
CREATE INDEX tagged_by_message ON tagged (message);
CREATE TABLE labels (name TEXT PRIMARY KEY);
CREATE TABLE folders (name TEXT PRIMARY KEY);
CREATE TABLE contacts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL,
  company TEXT NOT NULL, role TEXT NOT NULL, phone TEXT NOT NULL, note TEXT NOT NULL);
CREATE TABLE filters (id INTEGER PRIMARY KEY, field TEXT NOT NULL, contains TEXT NOT NULL,
  action TEXT NOT NULL, target TEXT NOT NULL);
CREATE TABLE absence (id INTEGER PRIMARY KEY, enabled INTEGER NOT NULL, first_day TEXT NOT NULL,
  last_day TEXT NOT NULL, text TEXT NOT NULL, contacts_only INTEGER NOT NULL);
CREATE TABLE link_clicks (id INTEGER PRIMARY KEY, message INTEGER NOT NULL);
CREATE TABLE _attachments (id INTEGER PRIMARY KEY, message INTEGER NOT NULL, filename TEXT NOT NULL,
  content TEXT NOT NULL);
CREATE INDEX attachments_by_message ON _attachments (message);
CREATE TABLE _seen (message INTEGER PRIMARY KEY);
CREATE TABLE _failed (id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, recipients TEXT NOT NULL,
  cc TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL, sent TEXT NOT NULL,
  parent INTEGER NOT NULL, forwarded INTEGER NOT NULL, files TEXT NOT NULL, address TEXT NOT NULL,
  reason TEXT NOT NULL);
CREATE TABLE _dead (address TEXT PRIMARY KEY);
CREATE TABLE _faults (id INTEGER PRIMARY KEY, address TEXT NOT NULL);
CREATE TABLE _handbook (name TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL,
  updated TEXT NOT NULL);
