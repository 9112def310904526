// One request to localhost:PORT.
const port = process.argv[2];
require("https").get(`https://localhost:${port}/`, { agent: false }, (answer) => answer.resume())
    .on("error", (error) => { console.error(error); process.exitCode = 1; });
