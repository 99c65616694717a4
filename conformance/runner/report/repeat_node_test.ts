/**
 * The shell commands of a report, as a shell reads them: each argument, with secrets from variables.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseArguments } from "../arguments.ts";
import { toRepeatCommand, toShellCommand } from "./repeat.ts";

const test = suite("repeat");
const HTTP = { base: "https://server.example" };

/** The arguments that a command gets from the shell. Every program is a function that prints them. */
function readArguments(command: string): string[] {
  const programs = ["curl", "nc", "openssl", "my-server", "node", "bun", "deno"].map((name) =>
    `${name}() { printf '%s\\0' ${name} "$@"; }`
  );
  const { stdout, status } = spawnSync("bash", ["-c", `${programs.join("\n")}\n${command}`], {
    encoding: "utf8",
    env: { ...process.env, SECRET_1: "s'1 $x", SECRET_2: "two" },
  });
  assert.is(status, 0);
  return stdout.split("\0").slice(0, -1);
}

test("a request with fields and a body", () => {
  const request =
    "POST /token?a=b%20c\nhost: server.example:8443\nauthorization: Basic ‹secret 1›\nx-empty: \n" +
    "content-length: 3\n\nname=it's & ‹secret 2›\n\nend";
  assert.equal(readArguments(toShellCommand(request, HTTP)), [
    "curl",
    "--include",
    "--request",
    "POST",
    "--path-as-is",
    "https://server.example:8443/token?a=b%20c",
    "--header",
    "authorization: Basic s'1 $x",
    "--header",
    "x-empty;",
    "--data-binary",
    "name=it's & two\n\nend",
  ]);
});

test("a request without a body", () => {
  const request = "GET /‹secret 2›\nhost: server.example\n";
  assert.equal(readArguments(toShellCommand(request, HTTP)), [
    "curl",
    "--include",
    "--path-as-is",
    "https://server.example/two",
  ]);
});

test("a shortened request says so", () => {
  const request = "POST /\nhost: server.example\n\nabc… (9000 bytes)";
  assert.match(toShellCommand(request, HTTP), / # shortened: /);
});

test("a request that no HTTP library sends, and messages on standard input", () => {
  const raw = toShellCommand("GET / HTTP/1.1\r\nHost: x\r\n\r\n", { base: "http://127.0.0.1:8080" });
  assert.match(raw, "printf '%b' 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' | nc 127.0.0.1 8080");
  const lines = toShellCommand('{"id":1}\n{"id":2}', {
    base: "",
    command: ["my-server", "--key", "‹secret 2›"],
  });
  assert.equal(readArguments(lines), ["my-server", "--key", "two"]);
  assert.match(lines, `printf '%s\\n' '{"id":1}' '{"id":2}' | my-server`);
  assert.is(toShellCommand("{}", { base: "", command: [] }), "");
});

test("the command that runs a vector again is complete", () => {
  const args = parseArguments(["oauth", "--stdio", "my-server --key hidden", "--wait", "3", "--slow"]);
  const mask = (text: string) => text.replace("hidden", "‹secret 2›");
  const command = toRepeatCommand(args, "oauth/code/twice", "seven", mask);
  assert.equal(
    readArguments(command).slice(-11),
    ["oauth", "--stdio", "my-server --key two", "--only", "oauth/code/twice", "--slow", "--wait", "3"]
      .concat(["--seed", "seven", "--verbose"]),
  );
});

test.run();
