"""What an application pays that makes contexts: COUNT times create_default_context(), as in LP 2009544."""
import ssl
import sys

for _ in range(int(sys.argv[1])):
    ssl.create_default_context()
