<?php
// COUNT requests to localhost:PORT by PHP's https stream, which makes a context for each.
for ($i = 0; $i < (int) $argv[2]; $i++) {
    if (file_get_contents("https://localhost:{$argv[1]}/") === false) {
        exit(1);
    }
}
