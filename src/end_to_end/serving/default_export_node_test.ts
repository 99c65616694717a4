import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runtimeCommand, temporaryFolder } from "../test_process.ts";

const test = suite("export default createTrivet()");
const folder = temporaryFolder();
test.after(() => folder.remove());

const MOD = pathToFileURL(fileURLToPath(new URL("../../mod.ts", import.meta.url))).href;
const NODE = pathToFileURL(fileURLToPath(new URL("../../runtime/node.ts", import.meta.url))).href;

/** Writes an app that prints each event. Node does not serve a default export, so there the app calls `serve`. */
function writeApp(name: string, options: string): string {
  const file = join(folder.path, `${name}.ts`);
  const entry = "Deno" in globalThis || "Bun" in globalThis
    ? "export default trivet;"
    : `import { serve } from ${JSON.stringify(NODE)};
const { url } = await serve(trivet, { port: 0 }); console.log("Listening on " + url);`;
  writeFileSync(
    file,
    `import { createTrivet, memoryStore } from ${JSON.stringify(MOD)};
const trivet = createTrivet({
  issuer: "http://127.0.0.1:8787", store: memoryStore(), ${options}
  onEvent(event) { console.log(JSON.stringify(event)); },
});
${entry}
`,
  );
  return file;
}

/** Runs the app and sends a failed login. Returns the client address of its event. */
async function readClientAddress(file: string, headers: Record<string, string>): Promise<string | undefined> {
  const [command] = runtimeCommand();
  const args = "Deno" in globalThis
    ? ["serve", "-A", "--no-check", "--host", "127.0.0.1", "--port", "0", file]
    : [file];
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", BUN_PORT: "0" },
  });
  const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const ended = new Promise((resolve) => child.on("close", resolve));
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      let all = "";
      const onLine = (line: string) => {
        all += line + "\n";
        const url = /http:\/\/[\w.]+:\d+/.exec(line)?.[0];
        if (line.startsWith("{")) resolve(JSON.parse(line).ip);
        else if (url) {
          const body = new URLSearchParams({ username: "unknown", password: "wrong" });
          const login = url.replace("localhost", "127.0.0.1") + "/login";
          fetch(login, { method: "POST", body, headers }).catch(reject);
        }
      };
      createInterface({ input: child.stdout }).on("line", onLine);
      createInterface({ input: child.stderr }).on("line", onLine);
      ended.then(() => reject(new Error(all)));
    });
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
    await ended;
  }
}

test("the app gets the client address from the runtime", async () => {
  const ip = await readClientAddress(writeApp("plain", ""), { "x-forwarded-for": "198.51.100.77" });
  assert.match(ip ?? "", /^(::ffff:)?127\.0\.0\.1$/);
});

test("the app gets the client address from trusted proxies", async () => {
  const file = writeApp("proxied", 'trustedProxies: ["127.0.0.0/8"],');
  assert.is(await readClientAddress(file, { "x-forwarded-for": "1.1.1.1, 198.51.100.77" }), "198.51.100.77");
});

test.run();
