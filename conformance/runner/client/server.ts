/**
 * The server of one scenario: answers correctly but for the deviations, and records the requests.
 *
 * @module
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Variables } from "../vector/template.ts";
import { isJsonObject } from "../vector/vector_file.ts";
import { createMcpServer, RESUMABLE_EVENT } from "./mcp_server.ts";
import { createOAuthServer, type Handler } from "./oauth_server.ts";
import { type RecordedRequest, recordRequest } from "./recorded.ts";
import { type Answer, deviate, toEvent, writeAnswer } from "./response.ts";
import type { Deviation, LoadedScenario } from "./scenario.ts";
import { createSkillsServer } from "./skills_server.ts";

/** How long a stream waits until the client has answered the requests of the server. */
const MAX_WAIT_MS = 1500;

export interface ScenarioServer {
  readonly base: string;
  /** Another origin, which records every request as `foreign`. */
  readonly foreign: string;
  readonly requests: readonly RecordedRequest[];
  /** Faults of the scenario or of this server. */
  readonly errors: readonly Error[];
  /** Whether the client sent a request that the server answered with a deviation. */
  readonly hasDeviated: () => boolean;
  readonly close: () => Promise<void>;
}

/** Starts the server of a scenario on a free port. */
export async function openScenarioServer({ suite, flow, scenario }: LoadedScenario): Promise<ScenarioServer> {
  const requests: RecordedRequest[] = [];
  const errors: Error[] = [];
  const counts = new Map<string, number>();
  /** Responses that interrupted streams still owe, and open calls by the id of their request. */
  const owed: unknown[] = [];
  const openCalls = new Map<unknown, () => void>();
  let handlers: readonly Handler[] = [];
  let base = "";
  let hasDeviated = false;

  const foreignServer = createServer(async (request, response) => {
    const record = await recordRequest(request);
    record.at = "foreign";
    requests.push(record);
    const json = { access_token: "access-foreign", token_type: "Bearer" };
    writeAnswer(response, { status: 200, headers: {}, json });
  });
  const server = createServer(async (request, response) => {
    const record = await recordRequest(request);
    let answer: Answer | undefined;
    for (const handle of handlers) answer ??= handle(record);
    requests.push(record);
    const count = (counts.get(record.at) ?? 0) + 1;
    counts.set(record.at, count);
    const deviations = (scenario.deviations ?? []).filter(({ at, nth = count }) =>
      at === record.at && nth === count
    );
    // A client may send no state.
    const known = { ...record, query: { state: "", ...record.query } };
    const id = isJsonObject(record.json) ? JSON.stringify(record.json["id"] ?? null) : "null";
    const variables: Variables = { base, foreign, request: known, id };
    let changed = answer ?? { status: 404, headers: {}, json: { error: "not_found" } };
    try {
      if (deviations.length > 0) hasDeviated = true;
      for (const deviation of deviations) changed = deviate(changed, deviation, variables);
      await send(response, record, changed, deviations);
    } catch (error) {
      errors.push(error as Error);
      response.destroy();
    }
  });

  async function send(
    response: ServerResponse,
    record: RecordedRequest,
    answer: Answer,
    deviations: readonly Deviation[],
  ): Promise<void> {
    const { json } = record;
    if (record.at === "notifications/cancelled" && isJsonObject(json) && isJsonObject(json["params"])) {
      const id = json["params"]["requestId"];
      openCalls.get(id)?.();
      openCalls.delete(id);
    }
    if (record.at === "resume") {
      answer.body = owed.splice(0).map(toEvent).join("");
      answer.stream = true;
    }
    if (record.at === "tools/call" && isCallOf(json, "wait")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      const late = deviations.some((each) => each.late);
      openCalls.set((json as { id: unknown }).id, () => response.end(late ? toEvent(answer.message) : ""));
      return;
    }
    if (deviations.some(({ interrupted }) => interrupted)) {
      owed.push(answer.message);
      response.writeHead(200, { ...answer.headers, "content-type": "text/event-stream" });
      response.end(`id: ${RESUMABLE_EVENT}\nretry: 10\ndata:\n\n`);
      return;
    }
    const before = deviations.flatMap((each) => each.before ?? []);
    if (before.length > 0) {
      response.writeHead(answer.status, { ...answer.headers, "content-type": "text/event-stream" });
      response.write(before.map(toEvent).join(""));
      await waitForResponses(before);
      response.end(toEvent(answer.message));
      return;
    }
    writeAnswer(response, answer, deviations.some(({ cut }) => cut));
  }

  /** Resolves when the client has answered every request in `sent`, or after a time. */
  async function waitForResponses(sent: readonly unknown[]): Promise<void> {
    const ids = sent.filter((each) => isJsonObject(each) && "method" in each && "id" in each)
      .map((each) => (each as { id: unknown }).id);
    const isAnswered = (id: unknown) =>
      requests.some(({ at, json }) => at === "response" && isJsonObject(json) && json["id"] === id);
    const deadline = Date.now() + MAX_WAIT_MS;
    while (!ids.every(isAnswered) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  const foreign = await listen(foreignServer);
  base = await listen(server);
  handlers = suite === "oauth"
    ? [createOAuthServer(base, `${base}/resource`)]
    : suite === "skills"
    ? [createSkillsServer(base)]
    : [createMcpServer(base, flow), createOAuthServer(base, `${base}/mcp`)];
  return {
    base,
    foreign,
    requests,
    errors,
    hasDeviated: () => hasDeviated,
    close: async () => {
      await Promise.all([closeServer(server), closeServer(foreignServer)]);
    },
  };
}

function isCallOf(json: unknown, name: string): boolean {
  return isJsonObject(json) && isJsonObject(json["params"]) && json["params"]["name"] === name;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
