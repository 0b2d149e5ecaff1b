"""How importers read: forwards, in bounded memory, unpacked; spans of time and cycles as text."""
