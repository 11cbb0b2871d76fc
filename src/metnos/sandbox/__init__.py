"""The walls: bubblewrap profiles, what runs inside them first, and a probe that proves they hold."""
