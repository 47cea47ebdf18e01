"""A real browser for the web event: sites over HTTP on loopback, Chromium driven by Playwright.

Independent of tasks and verdicts: it shows pages, carries out actions, and lets Chromium reach only
the episode's own sites.
"""
