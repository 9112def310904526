<?php
// COUNT requests to localhost:PORT by PHP's https stream, which makes a context for each.
for ($i = 0; $i < (int) $argv[2]; $i++) {
    if (@file_get_contents("https://localhost:{$argv[1]}/") === false) {
        fwrite(STDERR, "certificate or connection refused: " . json_encode(error_get_last()) . openssl_error_string() . "\n");
        exit(1);
    }
}
