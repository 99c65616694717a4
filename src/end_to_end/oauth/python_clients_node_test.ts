/**
 * Two OAuth clients in Python, as packaged by Debian, against a running server.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { newPerson } from "./test_person.ts";

const test = suite("OAuth clients in Python");
const PYTHON = "/usr/bin/python3";
const CALLBACK = "https://client.example/callback";
/** The secret has characters that clients can percent-encode in HTTP Basic; these clients do not. */
const APP = { id: "py-app", secret: "s3cret%2B+&:/", redirect_uris: [CALLBACK] };
const [, serve] = Object.entries(entries)[0]!;
let server: RunningServer;
let issuer: string;

/** The script prints the authorization URL, reads the callback URL, and prints its results. */
const AUTHLIB = `
import json, sys
from authlib.integrations.requests_client import OAuth2Session
issuer, client_id, secret, callback, method = sys.argv[1:]
client = OAuth2Session(client_id, secret, scope="profile read", redirect_uri=callback,
    token_endpoint_auth_method=method, code_challenge_method="S256")
verifier = "v" * 60
url, state = client.create_authorization_url(issuer + "/oauth/authorize", code_verifier=verifier)
print(url, flush=True)
answer = sys.stdin.readline().strip()
token = client.fetch_token(issuer + "/oauth/token", authorization_response=answer, code_verifier=verifier)
user = client.get(issuer + "/api/user").json()
refreshed = client.refresh_token(issuer + "/oauth/token", refresh_token=token["refresh_token"])
machine = OAuth2Session(client_id, secret, scope="write", token_endpoint_auth_method=method)
own = machine.fetch_token(issuer + "/oauth/token", grant_type="client_credentials")
print(json.dumps([token["scope"], user["name"], refreshed["access_token"] != token["access_token"], own["scope"]]))
`;
const REQUESTS = `
import json, sys
from oauthlib.oauth2 import BackendApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session
issuer, client_id, secret, callback, method = sys.argv[1:]
client = OAuth2Session(client_id, scope=["profile", "read"], redirect_uri=callback)
url, state = client.authorization_url(issuer + "/oauth/authorize")
print(url, flush=True)
answer = sys.stdin.readline().strip()
options = {"auth": HTTPBasicAuth(client_id, secret)} if method == "client_secret_basic" else {"client_secret": secret, "include_client_id": True}
token = client.fetch_token(issuer + "/oauth/token", authorization_response=answer, **options)
user = client.get(issuer + "/api/user").json()
refreshed = client.refresh_token(issuer + "/oauth/token", client_id=client_id, client_secret=secret)
machine = OAuth2Session(client=BackendApplicationClient(client_id=client_id, scope=["write"]))
own = machine.fetch_token(issuer + "/oauth/token", client_id=client_id, client_secret=secret)
print(json.dumps([" ".join(token["scope"]), user["name"], refreshed["access_token"] != token["access_token"], " ".join(own["scope"])]))
`;

test.before(async () => {
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice" }, 1000);
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  issuer = `http://127.0.0.1:${server.port}`;
  resolve(createTrivet({ issuer, store, oauth: { clients: [APP] } }));
});
test.after(() => server.close());

function run(script: string, method: string): Promise<string> {
  const child = spawn(PYTHON, ["-c", script, issuer, APP.id, APP.secret, CALLBACK, method], {
    env: { ...process.env, OAUTHLIB_INSECURE_TRANSPORT: "1", AUTHLIB_INSECURE_TRANSPORT: "1" },
  });
  let out = "";
  let err = "";
  child.stderr.on("data", (chunk) => err += chunk);
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => child.kill("SIGKILL"), 30_000);
    child.stdout.on("data", async (chunk) => {
      const before = out;
      out += chunk;
      if (!before.includes("\n") && out.includes("\n")) {
        const callback = await newPerson("alice", "wonderland").allow(out.split("\n")[0]!);
        child.stdin.end(callback.href + "\n");
      }
    });
    child.on("close", (code) => {
      clearTimeout(late);
      if (code === 0) resolve(out.split("\n")[1]!);
      else reject(new Error(`the script exited with ${code}: ${err}`));
    });
  });
}

for (
  const [name, module, script] of [["Authlib", "authlib", AUTHLIB], [
    "requests-oauthlib",
    "requests_oauthlib",
    REQUESTS,
  ]] as const
) {
  const isInstalled = spawnSync(PYTHON, ["-c", `import ${module}`]).status === 0;
  if (!isInstalled && process.env.CI !== "true") {
    skipBecause(test, `python3-${module.replace("_", "-")} is not installed: ${name} is not tested`);
    continue;
  }
  for (const method of ["client_secret_basic", "client_secret_post"]) {
    test(`${name} with ${method} completes code, user info, refresh and client credentials`, async () => {
      assert.equal(JSON.parse(await run(script, method)), ["profile read", "Alice", true, "write"]);
    });
  }
}

test.run();
