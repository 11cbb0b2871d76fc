"""The one door to SQLite: connections, transactions, migrations, online copies. Knows no table of its own."""
