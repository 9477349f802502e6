"""The agent under test: how it is asked, what it gives back, what that costs."""
