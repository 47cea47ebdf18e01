CREATE TABLE events (id INTEGER PRIMARY KEY, title TEXT NOT NULL, start TEXT NOT NULL, finish TEXT NOT NULL,
  room TEXT NOT NULL, organiser TEXT NOT NULL, people TEXT NOT NULL, note TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'planned', series INTEGER NOT NULL DEFAULT 0);
CREATE INDEX events_by_start ON events (start);
CREATE INDEX events_by_room ON events (room, start);
CREATE INDEX events_by_series ON events (series);
CREATE TABLE answers (id INTEGER PRIMARY KEY, event INTEGER NOT NULL, person TEXT NOT NULL,
  answer TEXT NOT NULL, remark TEXT NOT NULL);
CREATE INDEX answers_by_event ON answers (event);
CREATE TABLE _rooms (code TEXT PRIMARY KEY, name TEXT NOT NULL, floor INTEGER NOT NULL,
  capacity INTEGER NOT NULL, equipment TEXT NOT NULL, opens TEXT NOT NULL, closes TEXT NOT NULL,
  days TEXT NOT NULL, rule TEXT NOT NULL);
CREATE TABLE _colleagues (login TEXT PRIMARY KEY, department TEXT NOT NULL, city TEXT NOT NULL,
  zone INTEGER NOT NULL, starts TEXT NOT NULL, ends TEXT NOT NULL, note TEXT NOT NULL);
CREATE TABLE _rules (name TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL);
