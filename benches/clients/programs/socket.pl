# COUNT connections to localhost:PORT by IO::Socket::SSL, which looks for the store by itself.
use strict;
use warnings;
use IO::Socket::SSL;

my ($port, $count) = @ARGV;
for (1 .. $count) {
    my $socket = IO::Socket::SSL->new(
        PeerHost => 'localhost', PeerPort => $port, SSL_verify_mode => SSL_VERIFY_PEER,
    ) or die "$SSL_ERROR\n";
    $socket->close;
}
