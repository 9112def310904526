# One request to localhost:PORT that trusts the file whose path Ruby gives for OpenSSL's default one.
require "net/http"
require "openssl"
http = Net::HTTP.new("localhost", Integer(ARGV[0]))
http.use_ssl = true
http.ca_file = OpenSSL::X509::DEFAULT_CERT_FILE
http.get("/")
