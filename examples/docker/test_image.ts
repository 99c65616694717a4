/**
 * Builds the image of the Dockerfile with `buildah`, and runs its parts without a container engine: `buildah` changes the
 * root folder and the user, and shares the network. Only tests import this.
 *
 * The images that the Dockerfile names come from a registry. In tests, one image made of this machine's Node, npm and the
 * libraries that they need takes the place of both.
 *
 * @module
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** What the image says about how to run it. */
export interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Why images cannot be built here; undefined if they can. */
export function findObstacle(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    return "the image is built and run by root on Linux";
  }
  if (spawnSync("buildah", ["--version"]).status !== 0) return "buildah is not installed";
  if (spawnSync("npm", ["ping"], { timeout: 20_000 }).status !== 0) {
    return "no package registry can be reached";
  }
  return undefined;
}

/** Runs `buildah` with its images in a folder of the test. */
export class ImageBuilder {
  #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Builds the image from a folder with the release. */
  build(release: string, tag: string): void {
    const base = join(this.#folder, "base");
    writeBase(base);
    this.#run("build", "--isolation", "chroot", "--file", "Dockerfile", "--tag", "base", base);
    this.#run(
      "build",
      "--isolation",
      "chroot",
      // An image of the format OCI has no health check.
      "--format",
      "docker",
      "--build-arg",
      "BUILD_IMAGE=localhost/base",
      "--build-arg",
      "BASE_IMAGE=localhost/base",
      "--file",
      fileURLToPath(new URL("Dockerfile", import.meta.url)),
      "--tag",
      tag,
      release,
    );
  }

  config(tag: string): ImageConfig {
    return JSON.parse(this.#run("inspect", "--type", "image", tag)).Docker.config;
  }

  /** Makes a container, and returns its name. */
  create(tag: string): string {
    return this.#run("from", tag).trim();
  }

  /** Starts a command in a container, as the user of the image. */
  start(container: string, data: string, command: readonly string[]): ChildProcess {
    const args = ["run", "--isolation", "chroot", "--volume", `${data}:/data`, container, "--", ...command];
    return spawn("buildah", [...this.#storage(), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  }

  #run(...args: string[]): string {
    return execFileSync("buildah", [...this.#storage(), ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000,
    });
  }

  #storage(): string[] {
    const [images, state] = [join(this.#folder, "images"), join(this.#folder, "state")];
    return ["--storage-driver", "vfs", "--root", images, "--runroot", state];
  }
}

/** The processes that a process started, and those that they started. */
export function processesBelow(pid: number): number[] {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]!.split(" ")[1] === String(pid);
    } catch {
      return false;
    }
  }).map(Number);
  return children.flatMap((child) => [child, ...processesBelow(child)]);
}

/** A root folder with Node where the distroless image has it, and with npm and a shell for the build. */
function writeBase(folder: string): void {
  const root = join(folder, "root");
  const npm = dirname(dirname(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim())));
  for (
    const [program, path] of [[process.execPath, "/nodejs/bin/node"], ["/bin/sh"], ["/bin/mkdir"], [
      "/bin/rm",
    ]]
  ) {
    copy(program!, join(root, path ?? program!));
    const libraries = execFileSync("ldd", [program!], { encoding: "utf8" }).match(/\/[^ )]+/g) ?? [];
    for (const library of libraries) copy(library, join(root, library));
  }
  cpSync(npm, join(root, "npm"), { recursive: true });
  const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  writeFileSync(join(root, "npm/npmrc"), `registry=${registry}\nfetch-retries=1\nfetch-timeout=20000\n`);
  writeFileSync(join(root, "bin/npm"), '#!/bin/sh\nexec /nodejs/bin/node /npm/bin/npm-cli.js "$@"\n');
  chmodSync(join(root, "bin/npm"), 0o755);
  for (const empty of ["tmp", "etc"]) mkdirSync(join(root, empty));
  chmodSync(join(root, "tmp"), 0o1777);
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/root:/bin/sh\nnonroot:x:65532:65532::/tmp:/bin/sh\n");
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnonroot:x:65532:\n");
  // The certificates that npm may need here.
  const { NODE_EXTRA_CA_CERTS } = process.env;
  if (NODE_EXTRA_CA_CERTS) copy(NODE_EXTRA_CA_CERTS, join(root, "etc/ca.pem"));
  const env = `ENV PATH=/bin:/nodejs/bin${NODE_EXTRA_CA_CERTS ? " NODE_EXTRA_CA_CERTS=/etc/ca.pem" : ""}`;
  writeFileSync(join(folder, "Dockerfile"), `FROM scratch\nCOPY root /\n${env}\n`);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to);
}
