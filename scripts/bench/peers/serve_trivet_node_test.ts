/**
 * The server of Trivet among the peers starts: an option that is refused would otherwise show only in a bench.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { CLIENT, SCOPE } from "./child.ts";

test("the server of the bench issues a token", async () => {
  const file = fileURLToPath(new URL("serve_trivet.ts", import.meta.url));
  const child = spawn(process.execPath, [file], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once("line", resolve);
      child.once(
        "exit",
        (code) => reject(new Error(`The server exited with ${code}`)),
      );
    });
    const { status } = await fetch(`http://127.0.0.1:${port}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        scope: SCOPE,
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
      }),
    });
    assert.is(status, 200);
  } finally {
    child.disconnect();
  }
});

test.run();
