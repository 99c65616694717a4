/**
 * Starts, kills and restarts engines for tests: a PostgreSQL cluster or a Redis server in a temporary folder, on a free
 * loopback port. Other engines on the machine are not affected.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { freePort } from "../../conformance/runner/target/free_port.ts";

export interface Engine {
  readonly name: "postgres" | "redis";
  readonly port: number;
  /** The URL of a store on this engine. @param port the engine's own, or that of a proxy */
  address(port?: number): string;
  start(): Promise<void>;
  /** Ends the engine immediately, as a crash would. */
  kill(): Promise<void>;
  /** Shuts the engine down. */
  stop(): Promise<void>;
  /** Whether the engine accepts connections and responds. */
  isReady(): Promise<boolean>;
  /** Suspends the engine for so many milliseconds, without closing a connection. */
  stall(milliseconds: number): Promise<void>;
  /** Ends the engine and removes its folder. */
  remove(): Promise<void>;
}

/** Whether the programs of the engine are installed. */
export function hasEngine(name: Engine["name"]): boolean {
  return name === "postgres" ? postgresPrograms() !== undefined : findProgram("redis-server") !== undefined;
}

export async function createEngine(name: Engine["name"]): Promise<Engine> {
  return name === "postgres" ? await createPostgres() : await createRedis();
}

async function createPostgres(): Promise<Engine> {
  const programs = postgresPrograms()!;
  const folder = mkdtempSync(join(tmpdir(), "trivet-postgres-"));
  const port = await freePort();
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? postgresUser() : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
  const as = user ? { uid: user.uid, gid: user.gid } : {};
  const result = spawnSync(join(programs, "initdb"), [
    "-D",
    folder,
    "-U",
    "trivet",
    "--auth=trust",
    "-E",
    "UTF8",
    "--locale=C",
  ], {
    encoding: "utf8",
    cwd: folder,
    ...as,
  });
  if (result.status !== 0) throw new Error(`initdb failed: ${result.stderr}`);
  let child: ChildProcess | undefined;
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: 60 };
  const args = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  return {
    name: "postgres",
    port,
    address: (through = port) => `postgres://trivet@127.0.0.1:${through}/postgres`,
    async start() {
      // A killed server leaves this file, which says that the server runs.
      rmSync(join(folder, "postmaster.pid"), { force: true });
      child = spawn(join(programs, "postgres"), ["-D", folder, ...args], {
        stdio: "ignore",
        cwd: folder,
        ...as,
      });
      await waitUntil(() => responds(port, "\0\0\0\x08\x04\xd2\x16/"));
    },
    kill: () => killProcess(child, "SIGQUIT"),
    // A "fast" shutdown.
    stop: () => killProcess(child, "SIGINT"),
    // A server that starts or shuts down refuses sessions, but responds to a request for encryption.
    isReady: () => responds(port, startupMessage("trivet", "postgres"), "R"),
    async stall(milliseconds) {
      await suspend(child, milliseconds, true);
    },
    async remove() {
      await killProcess(child, "SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function createRedis(): Promise<Engine> {
  const program = findProgram("redis-server")!;
  const folder = mkdtempSync(join(tmpdir(), "trivet-redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const args = [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
  ];
  return {
    name: "redis",
    port,
    address: (through = port) => `redis://127.0.0.1:${through}`,
    async start() {
      child = spawn(program, args, { stdio: "ignore" });
      await waitUntil(() => responds(port, "PING\r\n", "+PONG"));
    },
    kill: () => killProcess(child, "SIGKILL"),
    stop: () => killProcess(child, "SIGTERM"),
    isReady: () => responds(port, "PING\r\n", "+PONG"),
    stall: (milliseconds) => suspend(child, milliseconds, false),
    async remove() {
      await killProcess(child, "SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function postgresPrograms(): string | undefined {
  const found = globSync("/usr/lib/postgresql/*/bin/initdb").sort().at(-1) ?? findProgram("initdb");
  return found?.slice(0, -"/initdb".length);
}

function findProgram(name: string): string | undefined {
  return (process.env.PATH ?? "").split(":").map((folder) => join(folder, name)).find((file) =>
    existsSync(file)
  );
}

function postgresUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

function killProcess(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("close", () => resolve());
    process.kill(child.pid!, signal);
  });
}

/** Suspends the process and, with `withChildren`, those that serve connections of PostgreSQL. */
async function suspend(
  child: ChildProcess | undefined,
  milliseconds: number,
  withChildren: boolean,
): Promise<void> {
  const children = withChildren
    ? spawnSync("pgrep", ["-P", String(child!.pid)], { encoding: "utf8" }).stdout.split("\n")
    : [];
  const all = [child!.pid!, ...children.filter(Boolean).map(Number)];
  const signal = (name: NodeJS.Signals) => {
    for (const pid of all) {
      try {
        process.kill(pid, name);
      } catch {
        // The process has ended.
      }
    }
  };
  signal("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  signal("SIGCONT");
}

/** The message that opens a session (https://www.postgresql.org/docs/current/protocol-message-formats.html, StartupMessage). */
function startupMessage(user: string, database: string): string {
  const fields = `\0\x03\0\0user\0${user}\0database\0${database}\0\0`;
  return `\0\0\0${String.fromCharCode(fields.length + 4)}${fields}`;
}

/** Whether a server responds to these bytes. */
function responds(port: number, bytes: string, expected: string = ""): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"));
    socket.setTimeout(500, () => socket.destroy());
    socket.once("data", (data) => {
      resolve(data.toString("latin1").startsWith(expected));
      socket.destroy();
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}

async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The engine did not start within 10 seconds");
}
