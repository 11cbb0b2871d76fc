"""The night: jobs in order, the scheduler, reminders."""
