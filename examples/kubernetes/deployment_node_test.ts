/**
 * The files for Compose and Kubernetes agree with the command line: options, variables, ports, probes and times. No engine
 * takes part: `trivet serve` runs with the arguments of the files.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import postgres from "postgres";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse, parseAllDocuments } from "yaml";
import { skipBecause } from "../../scripts/test/run_files.ts";
import {
  type RunningTrivet,
  startTrivet,
  temporaryFolder,
  trivet,
} from "../../src/end_to_end/test_process.ts";
import { findEngine } from "../../src/store/test_engines.ts";

const test = suite("examples/kubernetes");
const read = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const objects = parseAllDocuments(read("trivet.yaml")).map((document) => document.toJS());
const find = (kind: string) => objects.find((each) => each.kind === kind);
const pod = find("Deployment").spec.template.spec;
const [container] = pod.containers;
const compose = parse(read("../compose.yaml"));

/** A port of a container, a Service or a NetworkPolicy. */
interface Port {
  readonly name?: string;
  readonly containerPort?: number;
  readonly targetPort?: string;
  readonly port?: string | number;
}

/** The value of an option such as `--drain=2000`. */
const valueOf = (args: readonly string[], option: string): string | undefined =>
  args.find((each) => each.startsWith(`--${option}=`))?.split("=")[1];

/** The address of the port for metrics, from the log. */
async function findMetrics({ stderr }: RunningTrivet): Promise<string> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const found = /"metrics":"([^"]+)"/.exec(stderr());
    if (found) return found[1]!;
    if (Date.now() > deadline) throw new Error(`no address of metrics: ${stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("every option and variable exists", async () => {
  const { stdout } = await trivet(["serve", "--help"]);
  for (const args of [container.args, compose.services.trivet.command] as string[][]) {
    assert.is(args[0], "serve");
    for (const option of args.slice(1)) {
      assert.match(stdout, new RegExp(`^  ${option.split("=")[0]}\\b`, "m"), option);
    }
  }
  const variables = [
    ...container.env.map(({ name }: { name: string }) => name),
    ...Object.keys(compose.services.trivet.environment),
  ];
  for (const name of variables) assert.ok(stdout.includes(name), name);
});

test("Kubernetes: the names that objects refer to exist, and the times fit", () => {
  const labels = find("Deployment").spec.template.metadata.labels;
  for (
    const selector of [
      find("Deployment").spec.selector.matchLabels,
      find("Service").spec.selector,
      find("PodDisruptionBudget").spec.selector.matchLabels,
      find("NetworkPolicy").spec.podSelector.matchLabels,
    ]
  ) assert.equal(selector, labels);
  const { secretKeyRef } = container.env[0].valueFrom;
  assert.is(secretKeyRef.name, find("Secret").metadata.name);
  assert.ok(secretKeyRef.key in find("Secret").stringData);

  const ports = new Map(container.ports.map((port: Port) => [port.name, String(port.containerPort)]));
  assert.is(ports.get("http"), valueOf(container.args, "port"));
  assert.is(ports.get("metrics"), valueOf(container.args, "metrics-port"));
  const used = [
    ...["startupProbe", "livenessProbe", "readinessProbe"].map((probe) => container[probe].httpGet.port),
    ...find("Service").spec.ports.map((port: Port) => port.targetPort),
    ...find("NetworkPolicy").spec.ingress.flatMap((rule: { ports: Port[] }) =>
      rule.ports.map(({ port }) => port)
    ),
  ];
  for (const name of used) assert.ok(ports.has(name), name);

  const drain = Number(valueOf(container.args, "drain")) / 1000;
  const { periodSeconds, failureThreshold } = container.readinessProbe;
  assert.ok(drain > periodSeconds * failureThreshold, "requests go elsewhere before the listener closes");
  assert.ok(pod.terminationGracePeriodSeconds > drain);
  assert.ok(find("PodDisruptionBudget").spec.minAvailable < find("Deployment").spec.replicas);
});

test("the user and the volume are those of the image", () => {
  const dockerfile = read("../docker/Dockerfile");
  const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
  assert.ok(dockerfile.includes(`USER ${runAsUser}:${runAsGroup}`));
  assert.is(fsGroup, runAsGroup);
  const volume = dockerfile.match(/^VOLUME (.+)$/m)![1];
  assert.is(container.volumeMounts[0].mountPath, volume);
  assert.ok(compose.services.trivet.volumes.includes(`data:${volume}`));
});

test("Compose: only the proxy and Trivet share the trusted network, and the stop takes longer than the drain", () => {
  const { services, networks } = compose;
  const subnet = networks.edge.ipam.config[0].subnet;
  assert.is(valueOf(services.trivet.command, "trusted-proxy"), subnet);
  const inEdge = Object.entries<{ networks: string[] }>(services).filter(([, { networks }]) =>
    networks.includes("edge")
  );
  assert.equal(inEdge.map(([name]) => name), ["proxy", "trivet"]);
  assert.is(services.trivet.ports, undefined);
  const drain = Number(valueOf(services.trivet.command, "drain")) / 1000;
  assert.ok(parseInt(services.trivet.stop_grace_period) > drain);
});

const address = await findEngine("postgres");
if (address === undefined) skipBecause(test, "PostgreSQL does not listen");
else {
  test("a server with the Deployment's arguments answers its probes, and drains", async () => {
    const folder = temporaryFolder();
    const schema = `example_kubernetes_${process.pid}`;
    // Free ports on loopback, and a short drain; all other arguments as they are.
    const own = /^--(host|port|metrics-port|drain)=/;
    const args = container.args.slice(1).filter((each: string) => !own.test(each));
    const server = await startTrivet(
      [...args, "--metrics-port", "0", "--data", folder.path, "--drain", "1500"],
      { TRIVET_STORE: `${address}?schema=${schema}` },
    );
    try {
      const metrics = await findMetrics(server);
      const ask = async (probe: string) => (await fetch(metrics + container[probe].httpGet.path)).status;
      for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
        assert.is(await ask(probe), 200);
      }
      assert.is((await fetch(`${metrics}/metrics`)).status, 200);
      const stopped = server.stop();
      for (let tries = 0; await ask("readinessProbe") === 200 && tries < 100; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.is(await ask("readinessProbe"), 503);
      assert.is(await ask("livenessProbe"), 200);
      assert.is(await stopped, 0);
    } finally {
      server.child.kill("SIGKILL");
      const sql = postgres(address, { max: 1, onnotice: () => {} });
      await sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await sql.end();
      folder.remove();
    }
  });
}

test.run();
