import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newDataFolder, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet");
const folder = temporaryFolder();
let folders = 0;
const newFolder = (): string => join(folder.path, String(++folders));
test.before(async () => void await newDataFolder(join(folder.path, "data")));
test.after(() => folder.remove());

test("--help and --version print to standard output; every command has its own help", async () => {
  const help = await trivet(["--help"]);
  assert.is(help.code, 0);
  const names = [...help.stdout.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name!);
  assert.ok(names.length >= 14, help.stdout);
  for (const command of names) {
    const own = await trivet([command, "--help"]);
    assert.is(own.code, 0);
    assert.match(own.stdout, `Usage: trivet ${command}`);
    assert.is(own.stderr, "");
  }
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  assert.is((await trivet(["--version"])).stdout, `${version}\n`);
});

for (
  const [args, mentions] of [
    [[], ["trivet <command>", "serve", "stdio", "client", "user", "skill", "key", "migrate"]],
    [["usr"], ['Did you mean "user"?']],
    [["key", "lst"], ['Did you mean "list"?']],
    [["key", "list", "--jsn"], ['Did you mean "--json"?']],
    [["key", "delete", "x"], ['Did you mean "remove"?']],
    [["key", "add", "--scope", "skils:read"], ['Did you mean "skills:read"?']],
    [["fly"], ['"fly"']],
    [["serve", "--no-such-option"], ["'--no-such-option'"]],
    [["serve", "--port", "http"], ["--port ", '"http"']],
    [["serve", "--port", "70000"], ["--port ", '"70000"']],
    [["serve", "--trusted-proxy", "10.0.0.0/64"], ["--trusted-proxy ", '"10.0.0.0/64"']],
    [["serve", "--trusted-proxy-field", "forwarded"], ["--trusted-proxy-field ", " --trusted-proxy\n"]],
    [["serve", "--issuer", "foo"], ["--issuer ", '"foo"']],
    [["serve", "--issuer", "http://public.example"], ["--issuer ", "https", '"http://public.example"']],
    [["stdio", "--issuer", "https://a.example/?b"], ["--issuer ", '"https://a.example/?b"']],
    [["serve", "--issuer", "https://A.example"], ["--issuer ", '"https://a.example"', '"https://A.example"']],
    [["invitation", "add", "--issuer", "ftp://a.example"], ["--issuer ", '"ftp://a.example"']],
    [["serve", "--tls-cert", "missing.pem", "--tls-key", "missing.pem"], ["--tls-cert", '"missing.pem"']],
    [["serve", "--store", "paper"], ["--store ", "sqlite, memory"]],
    [["serve", "now"], ['"now"']],
    [["stdio", "./no/tools.ts"], ['"./no/tools.ts"']],
    [["stdio", "."], ['"."']],
    [["serve", "one.ts", "two.ts"], ['"two.ts"']],
    [["serve", "--host", ""], ["--host must not be empty"]],
    [["serve", "--data", ""], ["--data must not be empty"]],
    [["user", "list", "--data="], ["--data must not be empty"]],
    [["serve", "--name", ""], ["--name must not be empty"]],
    [["serve", "--publish", ""], ["--publish must not be empty"]],
    [["serve", "--watch"], ["--watch ", "MODULE"]],
    [["client"], ["add, list, show"]],
    [["cleint"], ['Did you mean "client"?']],
    [["user", "lsit"], ['Did you mean "list"?']],
    [["client", "add", "--redirect-url", "x"], ['Did you mean "--redirect-uri"?']],
    [["user", "lock", "alice", "--emial", "x"], ["--emial"]],
    [["provider", "test", "x", "--name", "y"], ["--name is not an option of trivet provider test"]],
    [["client", "list", "--store", "memory"], ["--store memory"]],
    [["client", "remove"], [": ID or NAME"]],
    [["client", "add", "--grant-type", "password"], ["--grant-type ", '"password"']],
    [["user", "add"], [": USERNAME"]],
    [["user", "add", "bob", "--generate", "--role", "root"], ["--role ", "reader, author, admin", '"root"']],
    [["serve", "--redirect-scheme", "javascript"], ["--redirect-scheme ", '"javascript"']],
    [["user", "add", "bob"], ["--password-stdin", "--generate"]],
    [["user", "add", "bob", "--password-stdin", "--generate"], ["--password-stdin", "--generate"]],
    [["client", "update", "x", "--scope", "a", "--unset", "scope"], ["--unset ", " scope "]],
    [["serve", "--demo", "--no-demo"], ["--demo ", " --no-demo"]],
    [["skill", "add"], [": FOLDER or ZIP"]],
    [["key", "add", "--scope", "everything"], ["--scope ", '"everything"']],
  ] as const
) {
  test(`trivet ${args.join(" ")} ends with exit code 2 and an error that names ${mentions.join(" and ")}`, async () => {
    const { code, stdout, stderr } = await trivet([...args], { cwd: folder.path });
    assert.is(code, 2);
    for (const mention of mentions) assert.match(stdout + stderr, mention);
    assert.not.match(stderr, /\n\s+at /);
  });
}

test("stdio: standard output carries only messages, and the process ends with its input", async () => {
  const input = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    "not json",
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_skills"}}',
  ].join("\n");
  const { code, stdout } = await trivet(["stdio", "--data", newFolder()], { input });
  assert.is(code, 0);
  const messages = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.is(messages.length, 3);
  assert.is(messages.find((message) => message.id === 1).result.protocolVersion, "2025-03-26");
  assert.is(messages.find((message) => message.id === null).error.code, -32700);
  assert.match(messages.find((message) => message.id === 2).result.content[0].text, "commit-messages");
});

test.run();
