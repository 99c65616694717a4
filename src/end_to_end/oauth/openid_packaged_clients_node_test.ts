/**
 * Sign-in with Trivet in OpenID Connect clients that Debian packages, unchanged: Apache's mod_auth_openidc, with logout in
 * both directions, and Go's coreos/go-oidc.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { request } from "undici";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { freePort } from "../../../conformance/runner/target/free_port.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, type ClientRegistration, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { temporaryFolder } from "../test_process.ts";
import { newPerson } from "./test_person.ts";

const test = suite("OpenID Connect clients that Debian packages");
const [, serve] = Object.entries(entries)[0]!;
const MODULES = "/usr/lib/apache2/modules";
const GO_PATH = "/usr/share/gocode";
const isRequired = process.env.CI === "true";
const SECRET = "a-secret-of-the-application";

/** An OpenID Provider with one client. Its host name is not the application's: cookies do not distinguish ports. */
async function startProvider(
  client: Omit<ClientRegistration, "id" | "secret">,
): Promise<{ issuer: string; server: RunningServer }> {
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const fetch = async (...call: Parameters<Trivet["fetch"]>) => (await promise).fetch(...call);
  const server = await serve({ fetch }, { port: 0, hostname: "127.0.0.1" });
  const issuer = `http://127.0.0.1:${server.port}`;
  const store = memoryStore();
  await addUser(store, {
    username: "alice",
    password: "wonderland",
    name: "Alice Liddell",
    email: "alice@example.com",
  }, 1000);
  const clients = [{ ...client, id: "app", secret: SECRET }];
  resolve(createTrivet({ issuer, store, oauth: { openid: true, clients, passwordIterations: 1000 } }));
  return { issuer, server };
}

/** Apache in the foreground, with a page at `/secure/` that needs a signed-in user and says who that is. */
function startApache(folder: string, issuer: string, port: number): ChildProcess {
  const site = join(folder, "site");
  mkdirSync(join(site, "secure"), { recursive: true });
  // Apache reads it as another user.
  chmodSync(folder, 0o755);
  writeFileSync(join(site, "secure/index.html"), "welcome");
  const load = ["mpm_event", "authn_core", "authz_core", "authz_user", "dir", "headers", "auth_openidc"]
    .map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`);
  writeFileSync(
    join(folder, "httpd.conf"),
    `
${load.join("\n")}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${folder}/httpd.pid
ErrorLog ${folder}/error.log
Mutex file:${folder} default
User www-data
Group www-data
DocumentRoot ${site}
DirectoryIndex index.html
OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID app
OIDCClientSecret ${SECRET}
OIDCScope "openid profile email"
OIDCRedirectURI http://127.0.0.1:${port}/secure/callback
OIDCCryptoPassphrase a-passphrase-of-the-application
OIDCPKCEMethod S256
<Location /secure>
  AuthType openid-connect
  Require valid-user
  Header always set x-user "expr=%{REMOTE_USER}"
  Header always set x-name "%{OIDC_CLAIM_name}e"
</Location>
<Location /out>
  Require all granted
</Location>
`,
  );
  const args = ["-d", folder, "-f", join(folder, "httpd.conf"), "-E", join(folder, "start.log")];
  return spawn("/usr/sbin/apache2", [...args, "-DFOREGROUND"], { stdio: "ignore" });
}

interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * The application in a browser: keeps its cookies, follows redirects within it, and returns the first other response. By
 * undici, because `fetch` says that it is a script, which the module does not send to the provider.
 */
function newVisitor(origin: string): (url: string) => Promise<Page> {
  const cookies = new Map<string, string>();
  return async (url) => {
    for (let step = 0; step < 10; step++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const { statusCode: status, headers, body } = await request(url, {
        headers: { cookie, accept: "text/html" },
      });
      const text = await body.text();
      for (const field of [headers["set-cookie"] ?? []].flat()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
        cookies.set(name!, value!);
      }
      const { location } = headers;
      if (typeof location !== "string" || !location.startsWith(origin)) return { status, headers, text };
      url = location;
    }
    throw new Error("too many redirects");
  };
}

if (!existsSync(join(MODULES, "mod_auth_openidc.so")) && !isRequired) {
  skipBecause(test, "libapache2-mod-auth-openidc is not installed: Apache is not tested");
} else {
  test("mod_auth_openidc signs in, gets a back-channel logout, and signs out at the provider", async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const out = `${origin}/out`;
    const { issuer, server } = await startProvider({
      redirect_uris: [`${origin}/secure/callback`],
      post_logout_redirect_uris: [out],
      backchannel_logout_uri: `${origin}/secure/callback?logout=backchannel`,
    });
    const apache = startApache(folder.path, issuer, port);
    try {
      await until(() => fetch(out).then(({ status }) => status === 404, () => false), "Apache answers");
      const visit = newVisitor(origin);
      const alice = newPerson("alice", "wonderland");
      const signIn = async () => {
        const started = await visit(`${origin}/secure/`);
        const callback = await alice.allow(String(started.headers.location));
        return await visit(callback.href);
      };
      const page = await signIn();
      const log = readFileSync(join(folder.path, "error.log"), "utf8");
      assert.is(page.text, "welcome", log);
      assert.match(String(page.headers["x-user"]), /^user_/);
      assert.is(page.headers["x-name"], "Alice Liddell");
      assert.is((await visit(`${origin}/secure/`)).status, 200);

      // The user signs out at the provider, and the session of the application ends by itself.
      await alice.signOut(issuer);
      await until(
        () => visit(`${origin}/secure/`).then(({ status }) => status === 302, () => false),
        "the application forgets her",
      );

      // She signs in again, and out in the application, which leads to the provider and back.
      assert.is((await signIn()).status, 200);
      const leaving = await visit(`${origin}/secure/callback?logout=${encodeURIComponent(out)}`);
      const endSession = String(leaving.headers.location);
      assert.ok(endSession.startsWith(`${issuer}/oauth/logout?`), endSession);
      assert.is((await alice.visit(endSession)).headers.get("location"), out);
      assert.not.ok(await alice.isSignedIn(issuer));
    } finally {
      const closed = new Promise((resolve) => apache.once("close", resolve));
      apache.kill("SIGTERM");
      await closed;
      await server.close();
      folder.remove();
    }
  });
}

/** Prints the authorization URL, reads the callback URL, verifies the ID token, prints claims. */
const GO_PROGRAM = `
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, os.Args[1])
	check(err)
	config := oauth2.Config{
		ClientID:     "app",
		ClientSecret: os.Args[2],
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Args[3],
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
	}
	fmt.Println(config.AuthCodeURL("a-state", oidc.Nonce("a-nonce")))
	line, _, err := bufio.NewReader(os.Stdin).ReadLine()
	check(err)
	callback, err := url.Parse(string(line))
	check(err)
	token, err := config.Exchange(ctx, callback.Query().Get("code"))
	check(err)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: "app"}).Verify(ctx, token.Extra("id_token").(string))
	check(err)
	check(idToken.VerifyAccessToken(token.AccessToken))
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	check(err)
	var claims struct {
		Name string
	}
	check(info.Claims(&claims))
	json.NewEncoder(os.Stdout).Encode([]interface{}{
		idToken.Nonce, idToken.Subject == info.Subject, claims.Name, info.Email, callback.Query().Get("state"),
	})
}
`;
import { until } from "../../test_until.ts";

if (!existsSync(join(GO_PATH, "src/github.com/coreos/go-oidc")) && !isRequired) {
  skipBecause(test, "golang-github-coreos-go-oidc-dev is not installed: Go is not tested");
} else {
  test("coreos/go-oidc signs in, verifies the ID token and reads UserInfo", async () => {
    const folder = temporaryFolder();
    const callback = "https://app.example/callback";
    const { issuer, server } = await startProvider({ redirect_uris: [callback] });
    try {
      writeFileSync(join(folder.path, "main.go"), GO_PROGRAM);
      const binary = join(folder.path, "app");
      const env = { ...process.env, GOPATH: GO_PATH, GO111MODULE: "off", GOFLAGS: "", CGO_ENABLED: "0" };
      const built = spawnSync("go", ["build", "-o", binary, "main.go"], { cwd: folder.path, env });
      assert.is(built.status, 0, String(built.stderr));
      const app = spawn(binary, [issuer, SECRET, callback]);
      let [out, err] = ["", ""];
      app.stderr.on("data", (chunk) => err += chunk);
      const code = await new Promise((resolve) => {
        const late = setTimeout(() => app.kill("SIGKILL"), 30_000);
        app.stdout.on("data", async (chunk) => {
          const before = out;
          out += chunk;
          if (before.includes("\n") || !out.includes("\n")) return;
          app.stdin.end((await newPerson("alice", "wonderland").allow(out.split("\n")[0]!)).href + "\n");
        });
        app.on("close", (code) => {
          clearTimeout(late);
          resolve(code);
        });
      });
      assert.is(code, 0, err);
      const said = ["a-nonce", true, "Alice Liddell", "alice@example.com", "a-state"];
      assert.equal(JSON.parse(out.split("\n")[1]!), said);
    } finally {
      await server.close();
      folder.remove();
    }
  });
}

test.run();
