/**
 * Connections to a server or a cluster of Redis, through node-redis: the address, what is sent and which errors are
 * temporary.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createClient, createCluster, RESP_TYPES } from "redis";

/** The part of node-redis that is used, for a client and for a cluster. */
export interface Connection {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  send(args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Absent for a cluster. A channel may end in `*`. `onMessage` gets `undefined` when messages may have been missed. */
  subscribe?(channel: string, onMessage: (message: string | undefined) => void): Promise<void>;
  destroy(): void;
}

/** Values may be bytes, so all strings are returned as bytes. */
const AS_BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

export function openClient(url: string, timeoutMs: number): Connection {
  const client = createClient({
    url,
    RESP: 2,
    // Without a queue, callers get a 503 at once, and no write is done long after its caller gave up.
    disableOfflineQueue: true,
    pingInterval: timeoutMs,
    socket: { connectTimeout: timeoutMs, socketTimeout: 3 * timeoutMs, reconnectStrategy: wait },
  });
  client.on("error", () => {});
  let subscriber: typeof client | undefined;
  return {
    get isReady() {
      return client.isReady;
    },
    connect: () => client.connect(),
    send: (args) => client.sendCommand(args, AS_BYTES),
    async subscribe(channel, onMessage) {
      if (!subscriber) {
        subscriber = client.duplicate({ disableOfflineQueue: false });
        subscriber.on("error", () => {});
        await subscriber.connect();
        subscriber.on("ready", () => onMessage(undefined));
      }
      if (channel.endsWith("*")) await subscriber.pSubscribe(channel, (message) => onMessage(message));
      else await subscriber.subscribe(channel, (message) => onMessage(message));
    },
    destroy() {
      if (client.isOpen) client.destroy();
      if (subscriber?.isOpen) subscriber.destroy();
    },
  };
}

export function openCluster(url: string, key: string): Connection {
  const cluster = createCluster({
    rootNodes: [{ url }],
    RESP: 2,
    defaults: { disableOfflineQueue: true, socket: { reconnectStrategy: wait } },
  });
  cluster.on("error", () => {});
  return {
    get isReady() {
      return cluster.isOpen;
    },
    connect: () => cluster.connect(),
    send: (args) => cluster.sendCommand(key, false, args as (string | Buffer)[], AS_BYTES),
    destroy: () => cluster.destroy(),
  };
}

/** Milliseconds until the next attempt: finds a server that is available again within half a second. */
function wait(tries: number): number {
  return Math.min(50 * 2 ** Math.min(tries, 10), 500);
}

export function readAddress(
  address: string,
): { url: string; name: string; timeout: number; isCluster: boolean } {
  if (!/^rediss?:\/\//.test(address) || !URL.canParse(address)) {
    throw new TypeError("The address must begin with redis:// or rediss://");
  }
  const url = new URL(address);
  const name = url.searchParams.get("name") ?? "trivet";
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw new TypeError(`name must be letters, digits, _, . and -, but is "${name}"`);
  }
  const timeout = Number(url.searchParams.get("timeout") ?? 5);
  if (!(timeout > 0)) throw new TypeError("timeout must be a number of seconds above 0");
  const isCluster = url.searchParams.get("cluster") === "true";
  url.search = "";
  return { url: url.href, name, timeout, isCluster };
}

export function reasonOf(error: unknown): string {
  const { code, name, message } = error as { code?: string; name: string; message: string };
  return code ?? /^[A-Z]{3,}(?= )/.exec(message)?.[0] ?? name;
}

/** Whether the error is temporary: of the network, or of a server that starts, fails over or is full. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const reply = /^(LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|NOREPLICAS|MOVED|ASK) /;
  return reply.test(error.message) || /^E[A-Z]+$/.test((error as { code?: string }).code ?? "") ||
    /(Timeout|Offline|Disconnects|Closed|ClosedUnexpectedly|NodesUnavailable|Redirections|Aggregate)\w*Error$/
      .test(error.constructor.name);
}
