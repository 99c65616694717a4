# The example methods of the specification on JSON::RPC::Dispatch, set up as in its documentation.
#
# Debian package libjson-rpc-perl, which brings plackup.
#
#     plackup --host 127.0.0.1 --port PORT --env deployment app.psgi

use strict;
use warnings;
use JSON::RPC::Dispatch;
use Router::Simple;
use Scalar::Util qw(looks_like_number);

package Examples;

sub new { return bless {}, shift }

# The library cannot return -32602: an exception in a handler is -32603.
sub numbers {
    my @values = @_;
    die { message => "Invalid params" } if grep { !defined || ref || !Scalar::Util::looks_like_number($_) } @values;
    return @values;
}

sub subtract {
    my ( $self, $params ) = @_;
    my ( $minuend, $subtrahend )
        = numbers( ref $params eq 'ARRAY' ? @{$params}[ 0, 1 ] : @{$params}{qw(minuend subtrahend)} );
    return $minuend - $subtrahend;
}

sub sum {
    my ( $self, $params ) = @_;
    my $sum = 0;
    $sum += $_ for numbers(@$params);
    return $sum;
}

sub get_data { return [ "hello", 5 ] }
sub nothing  { return undef }

package main;

my $examples = Examples->new;
my $router   = Router::Simple->new;
$router->connect( $_ => { handler => $examples, action => $_ } ) for qw(subtract sum get_data);
$router->connect( $_ => { handler => $examples, action => "nothing" } ) for qw(update notify_hello notify_sum);

my $dispatch = JSON::RPC::Dispatch->new( router => $router );

sub { return $dispatch->handle_psgi(shift) };
