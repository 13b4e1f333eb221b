"""The page: layout, wiring and named handlers. Knows no model; a host is handed in."""
