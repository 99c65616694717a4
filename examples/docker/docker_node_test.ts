/**
 * The Dockerfile: builds the image from the packed release, and runs it.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { freePort } from "../../conformance/runner/target/free_port.ts";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { until } from "../../src/test_until.ts";
import { buildPackage, type BuiltPackage } from "../test_package.ts";
import { findObstacle, ImageBuilder, type ImageConfig, processesBelow } from "./test_image.ts";

const test = suite("examples/docker");
const USER = 65532;
const obstacle = "Deno" in globalThis || "Bun" in globalThis ? "the image is tested on Node" : findObstacle();

/** The server in a container. */
interface Running {
  readonly url: string;
  readonly pid: number;
  readonly ended: Promise<number | null>;
}

if (obstacle !== undefined) skipBecause(test, obstacle);
else {
  let built: BuiltPackage;
  let images: ImageBuilder;
  let config: ImageConfig;
  let container: string;
  let data: string;
  const running = new Set<number>();

  test.before(() => {
    built = buildPackage();
    const release = join(built.folder, "release");
    mkdirSync(release);
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", release], {
      cwd: built.dist,
      stdio: ["ignore", "ignore", "pipe"],
    });
    images = new ImageBuilder(built.folder);
    images.build(release, "trivet");
    config = images.config("trivet");
    container = images.create("trivet");
    data = join(built.folder, "volume");
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, USER, USER);
  });
  test.after(() => {
    for (const pid of running) process.kill(pid, "SIGKILL");
    built?.remove();
  });

  /** Runs the image's entry point with these arguments to its end. */
  const run = async (...args: string[]): Promise<{ code: number | null; output: string }> => {
    const child = images.start(container, data, [...config.Entrypoint, ...args]);
    let output = "";
    for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => output += chunk);
    const [code] = await once(child, "close");
    return { code, output };
  };

  /** Runs the image's own command, on a free port, and waits until it is ready. */
  const serve = async (...args: string[]): Promise<Running> => {
    const port = await freePort();
    const child = images.start(container, data, [
      ...config.Entrypoint,
      ...config.Cmd,
      "--port",
      String(port),
      ...args,
    ]);
    let output = "";
    for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => output += chunk);
    const ended = once(child, "close").then(([code]) => code as number | null);
    const url = `http://127.0.0.1:${port}`;
    const pid = await until(async () => {
      if (child.exitCode !== null) throw new Error(`The image does not serve: ${output}`);
      const isReady = await fetch(`${url}/readyz`).then(({ ok }) => ok, () => false);
      return isReady && processesBelow(child.pid!).find((each) => commandOf(each) === config.Entrypoint[0]);
    }, "the image serves");
    running.add(pid);
    ended.then(() => running.delete(pid));
    return { url, pid, ended };
  };

  /** The exit code of the image's health check, sent to the port of this test. */
  const checkHealth = async ({ url }: Running): Promise<number | null> => {
    const [kind, ...command] = config.Healthcheck.Test;
    assert.is(kind, "CMD");
    const child = images.start(
      container,
      data,
      command.map((part) => part.replace("http://127.0.0.1:8787", url)),
    );
    return (await once(child, "close"))[0];
  };

  test("runs as a user without rights, keeps its data in a volume", async () => {
    assert.is(config.User, `${USER}:${USER}`);
    assert.equal(Object.keys(config.Volumes), ["/data"]);
    assert.ok(config.Env.includes("TRIVET_DATA=/data"));
    const server = await serve();
    for (const id of ["Uid", "Gid"]) assert.is(statusOf(server.pid, id), String(USER));
    const ping = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    assert.equal(await ping.json(), { jsonrpc: "2.0", id: 1, result: {} });
    process.kill(server.pid, "SIGTERM");
    assert.is(await server.ended, 0);
  });

  test("keeps users in the volume when the container starts again", async () => {
    const first = await serve();
    process.kill(first.pid, "SIGTERM");
    assert.is(await first.ended, 0);
    const added = await run("user", "add", "ada", "--generate");
    assert.is(added.code, 0, added.output);
    const second = await serve();
    const listed = await run("user", "list");
    process.kill(second.pid, "SIGTERM");
    assert.is(await second.ended, 0);
    assert.ok(listed.output.includes("ada"), listed.output);
  });

  test("reports its health, and drains after SIGTERM", async () => {
    const server = await serve("--drain", "2500");
    assert.is(await checkHealth(server), 0);
    process.kill(server.pid, "SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.is((await fetch(`${server.url}/readyz`)).status, 503);
    assert.is((await fetch(`${server.url}/healthz`)).status, 200);
    assert.is(await checkHealth(server), 1);
    assert.is(await server.ended, 0);
    await fetch(`${server.url}/healthz`).then(() => assert.unreachable("it still listens"), () => {});
  });
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0]!;
}

/** A field of `/proc/PID/status`: the first of its values. */
function statusOf(pid: number, field: string): string | undefined {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return status.split("\n").find((line) => line.startsWith(`${field}:`))?.split(/\s+/)[1];
}

test.run();
