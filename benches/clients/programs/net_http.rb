# COUNT requests to localhost:PORT, each on a connection of its own.
require "net/http"
uri = URI("https://localhost:#{ARGV[0]}/")
Integer(ARGV[1]).times { Net::HTTP.get(uri) }
