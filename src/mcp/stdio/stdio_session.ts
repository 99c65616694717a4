/**
 * The session of a connection, which `initialize` starts: its changes go to the client as notifications.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Telemetry } from "../../http/telemetry.ts";
import { writeNotification } from "../../jsonrpc/server_message.ts";
import { notificationOf } from "../http/listen.ts";
import type { Handshake, Session } from "../session/session.ts";
import { watchSessionChanges } from "../session/session_changes.ts";
import type { Stateful } from "../stateful.ts";

interface StdioSessionOptions extends Pick<Stateful, "sessions" | "streams"> {
  readonly principal: Principal | undefined;
  readonly telemetry: Telemetry | undefined;
  readonly send: (text: string) => void;
}

export class StdioSession {
  readonly #options: StdioSessionOptions;
  #current: Session | undefined;
  #began = 0;
  /** Starts the watch of changes. */
  #watch: (() => void) | undefined;
  readonly #stops: (() => void)[] = [];

  constructor(options: StdioSessionOptions) {
    this.#options = options;
  }

  get current(): Session | undefined {
    return this.#current;
  }

  /** A second handshake replaces the session. */
  start(handshake: Handshake): void {
    const { sessions, streams, principal, telemetry, send } = this.#options;
    const session = this.#current = sessions.createLocal(handshake, principal);
    if (telemetry) this.#began = performance.now();
    this.#stop();
    this.#stops.push(streams.subscriptions.keep(session));
    this.#watch = () =>
      this.#stops.push(
        watchSessionChanges(streams, session, { principal, runtime: undefined }, ({ change }) => {
          send(writeNotification(...notificationOf(change)));
        }),
      );
  }

  /** Begins to watch changes. Called with the next message, as the client waits for the answer to `initialize`. */
  watchChanges(): void {
    this.#watch?.();
    this.#watch = undefined;
  }

  end(): void {
    this.#stop();
    const { telemetry } = this.#options;
    if (!this.#current || !telemetry) return;
    const seconds = (performance.now() - this.#began) / 1000;
    telemetry.recordSession({ revision: this.#current.revision, seconds, transport: "pipe" });
  }

  #stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}
