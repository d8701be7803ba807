"""The interpreter: it reads the world, follows the program and *proposes*; the kernel authorises."""
