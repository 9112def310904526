<?php
// One request to localhost:PORT that trusts the file whose path PHP gives for OpenSSL's default one.
$file = openssl_get_cert_locations()["default_cert_file"];
$context = stream_context_create(["ssl" => ["cafile" => $file]]);
exit(file_get_contents("https://localhost:{$argv[1]}/", false, $context) === false ? 1 : 0);
