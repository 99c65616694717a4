import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("trivet invitation, and mail of trivet serve");
const folder = temporaryFolder();
test.after(() => folder.remove());

const PASSWORD = "higher further faster";

/** A fetch with cookies that follows no redirect. */
function newBrowser(url: string) {
  const cookies = new Map<string, string>();
  return async (path: string, form?: Record<string, string>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(new URL(path, url), {
      redirect: "manual",
      headers: { accept: "text/html", "sec-fetch-site": "same-origin", cookie },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      cookies.set(name!, value!);
    }
    return response;
  };
}

test("an invitation of the command line makes an account on a running server, once, and can be revoked", async () => {
  const data = ["--data", join(folder.path, "invite")];
  const server = await startTrivet(["--no-demo", ...data]);
  try {
    const { url } = server.facts;
    const made = await trivet(["invitation", "add", "--json", "--role", "author", "--issuer", url, ...data]);
    const { link, id } = JSON.parse(made.stdout);
    assert.ok(link.startsWith(`${url}/login/invitation?token=trivet_iv_${id}.`));
    const listed = await trivet(["invitation", "list", "--json", ...data]);
    assert.equal(JSON.parse(listed.stdout).data.map((each: { id: string }) => each.id), [id]);
    assert.not.match(listed.stdout, "digest");
    const browse = newBrowser(url);
    assert.is((await browse(link)).status, 303);
    assert.is((await browse("/login/sign-up", { username: "carol", password: PASSWORD })).status, 302);
    const users = JSON.parse((await trivet(["user", "list", "--json", ...data])).stdout);
    assert.equal(users.data.map(({ username, role }: Record<string, string>) => [username, role]), [[
      "carol",
      "author",
    ]]);
    const again = newBrowser(url);
    await again(link);
    assert.is((await again("/login/sign-up", { username: "dave", password: PASSWORD })).status, 403);

    const other = JSON.parse(
      (await trivet(["invitation", "add", "--json", "--issuer", url, ...data])).stdout,
    );
    assert.is((await trivet(["invitation", "remove", other.id, ...data])).code, 0);
    assert.is((await trivet(["user", "uninvite", other.id, ...data])).code, 1);
    const revoked = newBrowser(url);
    await revoked(other.link);
    assert.is((await revoked("/login/sign-up", { username: "dave", password: PASSWORD })).status, 403);
    for (
      const wrong of [["--email", "no address"], ["--expires", "0"], ["--role", "root"], ["--issuer", "x"]]
    ) {
      assert.not.equal((await trivet(["invitation", "add", ...wrong, ...data])).code, 0, wrong.join(" "));
    }
  } finally {
    await server.stop();
  }
});

test("serve sends a link through the program, refuses breached passwords, and logs neither link nor address", async () => {
  const place = join(folder.path, "mail");
  await mkdir(place);
  const data = ["--data", join(place, "data")];
  const program = join(place, "sendmail");
  const message = join(place, "message");
  writeFileSync(program, `#!/bin/sh\ncat > ${message}.new && mv ${message}.new ${message}\n`);
  chmodSync(program, 0o755);
  const breached = join(place, "breached.txt");
  writeFileSync(breached, "correct horse battery\n");
  const server = await startTrivet([
    ...["--no-demo", "--mail-program", program],
    ...["--mail-from", "login@example.com", "--breached-passwords", breached, ...data],
  ]);
  try {
    const add = ["user", "add", "alice", "--email", "alice@example.com", "--generate", ...data];
    assert.is((await trivet(add)).code, 0);
    const browse = newBrowser(server.facts.url);
    assert.is((await browse("/login/forgot", { identifier: "alice" })).status, 200);
    for (let i = 0; i < 600 && !existsSync(message); i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const body = readFileSync(message, "utf8").split("\n\n")[1]!;
    const link = /^http\S+$/m.exec(atob(body.replace(/\s/g, "")))![0];
    assert.is((await browse(link)).status, 303);
    assert.is((await browse("/login/reset", { password: "correct horse battery" })).status, 400);
    assert.is((await browse("/login/reset", { password: PASSWORD })).status, 200);
    assert.is((await browse("/login", { username: "alice", password: PASSWORD })).status, 302);
    assert.not.match(server.stderr(), /trivet_pr_|alice@example/);
  } finally {
    await server.stop();
  }
});

test("open sign-up without mail is refused at the start", async () => {
  const { code, stderr } = await trivet(["serve", "--port", "0", "--sign-up", "open", "--store", "memory"]);
  assert.is(code, 2);
  assert.match(stderr, "--mail-program");
});

test.run();
