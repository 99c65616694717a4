import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import process from "node:process";
import { connect, type TLSSocket } from "node:tls";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { entries, waitingHandler } from "../test_entries.ts";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { until } from "../../test_until.ts";

const test = suite("trivet serve with certificate files");
const folder = temporaryFolder();
test.after(() => folder.remove());
const pathOf = (name: string): string => join(folder.path, name);

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { cwd: folder.path, stdio: "ignore" });
}

/** A certificate of the authority `ca`, whose subject is its name. */
function makeCertificate(name: string): void {
  const key = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    `${name}.key`,
  ];
  if (name === "ca") {
    return openssl("req", "-x509", ...key, "-out", "ca.crt", "-days", "30", "-subj", "/CN=ca");
  }
  openssl("req", ...key, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
  writeFileSync(pathOf("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "20", "-extfile", "names"];
  openssl("x509", "-req", "-in", `${name}.csr`, "-out", `${name}.crt`, ...signed);
  chmodSync(pathOf(`${name}.key`), 0o600);
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** The subject of the server's certificate. */
  readonly subject: string;
  readonly protocol: string | null;
}

/** A request with a connection of its own. */
function request(url: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(url, { ca: readFileSync(pathOf("ca.crt")), agent: false }, (response) => {
      const socket = response.socket as TLSSocket;
      const subject = String(socket.getPeerCertificate().subject.CN);
      const protocol = socket.getProtocol();
      let body = "";
      response.setEncoding("utf8").on("data", (chunk) => body += chunk);
      response.on("end", () => resolve({ status: response.statusCode!, body, subject, protocol }));
    }).on("error", reject);
  });
}

/** Replaces the files as certificate clients do: each at once, one after the other. */
function install(from: string, parts: readonly string[] = ["crt", "key"]): void {
  for (const part of parts) {
    writeFileSync(pathOf(`next.${part}`), readFileSync(pathOf(`${from}.${part}`)), { mode: 0o600 });
    renameSync(pathOf(`next.${part}`), pathOf(`used.${part}`));
  }
}

/** A server that replaces its certificate by listening again may refuse a connection. */
function isServed(url: string, subject: string): Promise<boolean> {
  return request(url).then((answer) => answer.subject === subject, () => false);
}

if (spawnSync("openssl", ["version"]).status !== 0) {
  skipBecause(test, "openssl is not installed");
} else {
  test.before(() => {
    for (const name of ["ca", "first", "second", "third"]) makeCertificate(name);
  });
  const files = ["--tls-cert", pathOf("used.crt"), "--tls-key", pathOf("used.key")];
  const data = ["--data", pathOf("data"), "--no-demo", "--no-skills"];

  test("https is served; a changed certificate is used without a restart, an unusable one is not", async () => {
    install("first");
    const server = await startTrivet([...files, ...data]);
    const { url, issuer } = server.facts;
    assert.match(url, /^https:/);
    assert.match(issuer, /^https:/);
    const metadata = `${url}/.well-known/oauth-authorization-server`;
    const first = await request(metadata);
    assert.is(first.status, 200);
    assert.is(JSON.parse(first.body).issuer, issuer);
    assert.is(first.subject, "first");
    assert.ok(["TLSv1.2", "TLSv1.3"].includes(first.protocol!));

    install("second");
    await until(() => isServed(metadata, "second"), "the second certificate");
    // The key does not fit, as between two files of a renewal; then neither file holds a certificate.
    install("third", ["crt"]);
    await until(() => server.stderr().includes("certificate_refused"), "the refusal");
    assert.is((await request(metadata)).subject, "second");
    writeFileSync(pathOf("used.crt"), "no certificate");
    await until(() => server.stderr().split("certificate_refused").length === 3, "the second refusal");
    assert.is((await request(metadata)).subject, "second");
    // A link to itself cannot even be examined.
    unlinkSync(pathOf("used.crt"));
    symlinkSync("used.crt", pathOf("used.crt"));
    await until(() => server.stderr().split("certificate_refused").length === 4, "the third refusal");
    assert.is((await request(metadata)).subject, "second");
    install("third");
    await until(() => isServed(metadata, "third"), "the third certificate");

    const plain = await fetch(metadata.replace("https:", "http:")).then(
      ({ status }) => status,
      () => "closed",
    );
    assert.ok(plain === "closed" || plain === 400, String(plain));
    assert.is((await request(metadata)).status, 200);
    assert.is(await server.stop(), 0);
    assert.not.match(server.stderr(), "PRIVATE KEY");
  });

  for (const [name, serve] of Object.entries(entries)) {
    test(`requests go on when ${name} replaces its certificate, and close() waits for them`, async () => {
      const [certificate, key] = ["first.crt", "first.key"].map((file) => readFileSync(pathOf(file), "utf8"));
      const tls = { certificate: certificate!, key: key! };
      const handler = waitingHandler();
      const server = await serve(handler, { port: 0, closeTimeout: 1500, tls });
      let isClosed = false;
      const asked = request(`${server.url.replace("127.0.0.1", "localhost")}/slow`);
      asked.catch(() => {});
      await handler.arrived;
      await server.replaceCertificate(tls);
      // Longer than `closeTimeout`, which is for the end of the server.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const closed = server.close().then(() => isClosed = true);
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.not(isClosed);
      handler.release();
      assert.is((await asked).body, "done");
      await closed;
    });
  }

  if (entries["bun"]) {
    test("on Bun a response after a new certificate is the last one of its connection, and says so", async () => {
      const [certificate, key] = ["first.crt", "first.key"].map((file) => readFileSync(pathOf(file), "utf8"));
      const tls = { certificate: certificate!, key: key! };
      const handler = waitingHandler();
      const server = await entries["bun"]!(handler, { port: 0, tls });
      let text = "";
      const socket = connect({ port: server.port, host: "127.0.0.1", ca: readFileSync(pathOf("ca.crt")) });
      socket.on("data", (chunk) => text += chunk);
      const ended = new Promise((resolve) => socket.on("close", resolve));
      socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
      await handler.arrived;
      await server.replaceCertificate(tls);
      handler.release();
      await ended;
      assert.match(text, /^connection: close\r$/im);
      await server.close();
    });
  }

  test("TLS 1.1 is refused", async () => {
    install("first");
    const server = await startTrivet([...files, ...data]);
    const { port } = new URL(server.facts.url);
    const client = (version: string) =>
      spawnSync("openssl", [
        "s_client",
        "-connect",
        `127.0.0.1:${port}`,
        version,
        "-cipher",
        "ALL:@SECLEVEL=0",
      ], {
        input: "",
        encoding: "utf8",
      });
    assert.is(client("-tls1_2").status, 0);
    assert.is.not(client("-tls1_1").status, 0);
    await server.stop();
  });

  test("files that cannot be used stop the start", async () => {
    install("first");
    const start = async (cert: string, key: string) => {
      const { code, stderr } = await trivet(["serve", "--tls-cert", cert, "--tls-key", key, ...data]);
      assert.is(code, 2);
      assert.not.match(stderr, "PRIVATE KEY");
      return stderr;
    };
    assert.match(await start(pathOf("absent.crt"), pathOf("used.key")), "--tls-cert");
    assert.match(await start(pathOf("used.crt"), pathOf("second.key")), "--tls-key");
    assert.match(await start(pathOf("used.key"), pathOf("used.crt")), "PEM");
    const damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    writeFileSync(pathOf("chain.crt"), readFileSync(pathOf("used.crt"), "utf8") + damaged);
    assert.match(await start(pathOf("chain.crt"), pathOf("used.key")), "--tls-cert");
    const { code, stderr } = await trivet(["serve", "--tls-cert", pathOf("used.crt"), ...data]);
    assert.is(code, 2);
    assert.match(stderr, "--tls-key");
  });

  if (process.platform !== "win32") {
    test("a private key that other users can read causes a warning", async () => {
      install("first");
      chmodSync(pathOf("used.key"), 0o644);
      const server = await startTrivet([...files, ...data]);
      await server.stop();
      assert.match(server.stderr(), "can read the private key");
    });
  }
}

test.run();
