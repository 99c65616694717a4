/**
 * Engines of a test's own, to be killed and started again: a PostgreSQL cluster or a Redis server in a temporary folder,
 * on a free loopback port. The engines that run on the machine are left alone.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { freePort } from "../test/workerd.ts";

export interface Engine {
  readonly name: "postgres" | "redis";
  readonly port: number;
  /** The address of a store on it, through any port. */
  address(port?: number): string;
  start(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** Whether it takes connections and answers. */
  accepts(): Promise<boolean>;
  /** Makes it answer nobody for so many milliseconds, without closing a connection. */
  stall(milliseconds: number): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/** Whether the programs of both engines are on this machine. */
export function hasEngine(name: Engine["name"]): boolean {
  return name === "postgres" ? postgresPrograms() !== undefined : findProgram("redis-server") !== undefined;
}

export async function newEngine(name: Engine["name"]): Promise<Engine> {
  return name === "postgres" ? await newPostgres() : await newRedis();
}

async function newPostgres(): Promise<Engine> {
  const programs = postgresPrograms()!;
  const folder = mkdtempSync(join(tmpdir(), "trivet-postgres-"));
  const port = await freePort();
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? postgresUser() : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
  const as = user ? { uid: user.uid, gid: user.gid } : {};
  const made = spawnSync(join(programs, "initdb"), [
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
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  let child: ChildProcess | undefined;
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: 60 };
  const words = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  return {
    name: "postgres",
    port,
    address: (through = port) => `postgres://trivet@127.0.0.1:${through}/postgres`,
    async start() {
      // What a killed server left says that it runs.
      rmSync(join(folder, "postmaster.pid"), { force: true });
      child = spawn(join(programs, "postgres"), ["-D", folder, ...words], {
        stdio: "ignore",
        cwd: folder,
        ...as,
      });
      await waitUntil(() => answers(port, "\0\0\0\x08\x04\xd2\x16/"));
    },
    kill: () => killed(child, "SIGQUIT"),
    // A "fast" shutdown.
    stop: () => killed(child, "SIGINT"),
    // What starts up or shuts down refuses a session; a request for encryption would be answered all the same.
    accepts: () => answers(port, startupMessage("trivet", "postgres"), "R"),
    async stall(milliseconds) {
      await stalled(child, milliseconds, true);
    },
    async remove() {
      await killed(child, "SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function newRedis(): Promise<Engine> {
  const program = findProgram("redis-server")!;
  const folder = mkdtempSync(join(tmpdir(), "trivet-redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const words = [
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
      child = spawn(program, words, { stdio: "ignore" });
      await waitUntil(() => answers(port, "PING\r\n", "+PONG"));
    },
    kill: () => killed(child, "SIGKILL"),
    stop: () => killed(child, "SIGTERM"),
    accepts: () => answers(port, "PING\r\n", "+PONG"),
    stall: (milliseconds) => stalled(child, milliseconds, false),
    async remove() {
      await killed(child, "SIGKILL");
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

function killed(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("close", () => resolve());
    process.kill(child.pid!, signal);
  });
}

/** The process, and for PostgreSQL those that serve its connections. */
async function stalled(
  child: ChildProcess | undefined,
  milliseconds: number,
  family: boolean,
): Promise<void> {
  const children = family
    ? spawnSync("pgrep", ["-P", String(child!.pid)], { encoding: "utf8" }).stdout.split("\n")
    : [];
  const all = [child!.pid!, ...children.filter(Boolean).map(Number)];
  const signal = (name: NodeJS.Signals) => {
    for (const pid of all) {
      try {
        process.kill(pid, name);
      } catch {
        // It ended by itself.
      }
    }
  };
  signal("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  signal("SIGCONT");
}

/** What opens a session (https://www.postgresql.org/docs/current/protocol-message-formats.html, StartupMessage). */
function startupMessage(user: string, database: string): string {
  const words = `\0\x03\0\0user\0${user}\0database\0${database}\0\0`;
  return `\0\0\0${String.fromCharCode(words.length + 4)}${words}`;
}

/** Whether something answers these bytes. */
function answers(port: number, bytes: string, expected: string = ""): Promise<boolean> {
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

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The engine did not start within 10 seconds");
}
