# Sells tickets.
def sell(ticket):
    """Sells one; see ``` in the manual."""
    return ticket
