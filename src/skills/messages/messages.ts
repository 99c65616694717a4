/**
 * `POST /v1/messages` with `container`: any model can use skills. The request goes to a model endpoint, or to the scripted
 * model without one, and Trivet answers the model's calls for skills. A request without skills is forwarded unchanged.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import { declaredLength, readText } from "../../http/body/body.ts";
import { type Fields, respond } from "../../http/response.ts";
import type { Store } from "../../store/store.ts";
import { type Call, callerOf } from "../api/call.ts";
import { betasOf, OLDER_MARKER } from "../api/dialect.ts";
import { createMemoryGate } from "../api/memory_gate.ts";
import type { OpenSkill, SkillLibrary } from "../disclosure/library.ts";
import {
  type ContainerParameter,
  findContainer,
  isOwnContainer,
  newContainerId,
  openSkills,
  readContainer,
  saveContainer,
  type SkillParameter,
  writeContainer,
} from "./container.ts";
import { type Shown, ViewAnswers } from "./view_answers.ts";
import { checkMarkers, forwardedBetas, type MarkerRule } from "./markers.ts";
import { type ModelAnswer, readAll, toMessage } from "./model_events.ts";
import { prepareRequest } from "./model_request.ts";
import { checkBody, type MessagesBody, parseBody } from "./request.ts";
import { STREAM_FIELDS, streamChunks, streamEvents, type StreamOptions } from "./response_stream.ts";
import { converse } from "./rounds.ts";
import { askScriptedModel } from "./scripted_model.ts";
import { checkCodeExecution } from "./skill_tools.ts";
import { askUpstream, type Question } from "./upstream.ts";
import type { Upstream } from "./upstream_options.ts";

export interface MessagesOptions {
  readonly store: Store;
  readonly library: SkillLibrary;
  /** Skills that one request may name. */
  readonly skillsPerRequest: number;
  /** The model endpoint; the scripted model answers when it is omitted. */
  readonly upstream?: Upstream | undefined;
  readonly markers: MarkerRule;
  /** Bytes of a request. */
  readonly bodyLimit: number;
  /** Bytes of all requests that one process holds. @default 64 MiB, and at least two requests */
  readonly memory?: number | undefined;
  /** Maximum number of model calls for one request. @default 10 */
  readonly mostRounds?: number | undefined;
  readonly observe: Observe;
  readonly now: () => number;
}

/** Responds to a request. @throws {SkillError | BodyError} when the request is refused */
export type Messages = (
  call: Pick<Call, "principal" | "context" | "request" | "checkStillValid">,
) => Promise<Response>;

const JSON_FIELDS: Fields = [["content-type", "application/json"]];
/** `anthropic-version` of a request that omits it. */
const DEFAULT_VERSION = "2023-06-01";

/** How long a request waits for memory: less than clients wait for a model. */
const MEMORY_WAIT_MS = 10_000;
/** A request whose end was not noticed (workerd) holds its memory for so long. */
const MEMORY_LIFE_MS = 60 * 60 * 1000;

/** The container of a request, and its skills. */
interface ResolvedContainer {
  readonly id: string;
  readonly skills: readonly SkillParameter[];
}

/** What forwarding and responding with skills both need. */
interface ModelCall {
  readonly question: Omit<Question, "body" | "betas">;
  readonly headers: Headers;
  readonly stream: StreamOptions;
}

/** @throws {TypeError} for an invalid upstream */
export function createMessages(options: MessagesOptions): Messages {
  const { store, library, skillsPerRequest, upstream, markers, bodyLimit, mostRounds = 10, observe, now } =
    options;
  const memory = Math.max(options.memory ?? 64 * 1024 * 1024, 2 * bodyLimit);
  const gate = createMemoryGate({
    what: "requests",
    memory,
    kept: 0,
    wait: MEMORY_WAIT_MS,
    life: MEMORY_LIFE_MS,
  });
  const askModel = upstream ? askUpstream(upstream, observe) : askScriptedModel();
  const onFault = (error: unknown): void => observe({ type: "fault", where: "messages", error });

  /** Forwards a request without skills, and its response, unchanged. */
  async function forward(text: string, { question, headers, stream }: ModelCall): Promise<Response> {
    const { type, chunks } = await askModel({ ...question, body: text, betas: betasOf(headers) });
    if (type === "text/event-stream") return respond(200, streamChunks(chunks, stream), STREAM_FIELDS);
    const whole = await readAll(chunks);
    stream.onEnd();
    return respond(200, whole, JSON_FIELDS);
  }

  async function withSkills(
    principal: Principal,
    body: MessagesBody,
    { id, skills: listed }: ResolvedContainer,
    { question, headers, stream }: ModelCall,
  ): Promise<Response> {
    if (listed.length > 0) {
      checkMarkers(headers, markers);
      checkCodeExecution(body.tools);
    }
    const skills = await openSkills(library, principal, listed);
    const { workspace } = principal;
    const discloseSkill = (
      { skill, ...shown }: Shown | { skill: OpenSkill; level: 1; tokens: number },
    ): void =>
      observe({
        type: "skill_disclosed",
        workspace,
        id: skill.id,
        name: skill.name,
        version: skill.version,
        via: "messages",
        ...shown,
      });
    const request = prepareRequest(body, skills);
    const betas = skills.length > 0 ? forwardedBetas(headers) : betasOf(headers);
    const ask = (body: string): Promise<ModelAnswer> => askModel({ ...question, body, betas });
    const first = await ask(request.write([], 0, 0));
    // Save the container before the client gets its id, and only if the model accepted the request.
    const expires = await saveContainer(store, workspace, id, skills, now());
    for (const skill of skills) discloseSkill({ skill, level: 1, tokens: skill.tokens.metadata });
    const events = converse({
      request,
      answers: new ViewAnswers(skills, body.messages, discloseSkill),
      container: writeContainer(id, expires, skills, betasOf(headers).includes(OLDER_MARKER)),
      ask,
      onFault,
      mostRounds,
    }, first);
    if (question.stream) return respond(200, streamEvents(events, stream), STREAM_FIELDS);
    const message = await toMessage(events);
    stream.onEnd();
    return respond(200, JSON.stringify(message), JSON_FIELDS);
  }

  /** The container and its skills; `undefined` when Trivet does not handle them. */
  async function resolveContainer(
    { workspace }: Principal,
    container: ContainerParameter | undefined,
  ): Promise<ResolvedContainer | undefined> {
    if (!container) return undefined;
    const { id, skills } = container;
    if (id === undefined) return skills?.length ? { id: newContainerId(), skills } : undefined;
    // A model endpoint may have containers of its own.
    if (upstream && !isOwnContainer(id) && !skills?.length) return undefined;
    const known = await findContainer(store, workspace, id);
    return { id, skills: skills ?? known.skills };
  }

  return async (call) => {
    const { request } = call;
    const declared = declaredLength(request);
    // A longer body is refused without being read.
    const bytes = declared === undefined ? bodyLimit : declared > bodyLimit ? 0 : declared;
    const { id, isBodyBuffered } = callerOf(call);
    const { release } = await gate.reserve(bytes, isBodyBuffered ? memory : undefined, id);
    const disconnected = new AbortController();
    const disconnect = (): void => disconnected.abort();
    const { signal } = request;
    if (signal.aborted) disconnect();
    signal.addEventListener("abort", disconnect);
    const onEnd = (): void => {
      release();
      signal.removeEventListener("abort", disconnect);
    };
    try {
      return await respondTo(call, { disconnected, onEnd, onFault });
    } catch (error) {
      disconnect();
      onEnd();
      throw error;
    }
  };

  async function respondTo(
    { principal, request, checkStillValid }: Parameters<Messages>[0],
    stream: StreamOptions,
  ): Promise<Response> {
    const text = await readText(request, bodyLimit);
    const body = await parseBody(text);
    await checkStillValid();
    const call: ModelCall = {
      question: {
        stream: body.stream === true,
        version: request.headers.get("anthropic-version") ?? DEFAULT_VERSION,
        signal: stream.disconnected.signal,
      },
      headers: request.headers,
      stream,
    };
    const resolved = await resolveContainer(principal, readContainer(body.container, skillsPerRequest));
    // A model endpoint validates requests itself; the scripted model needs a valid one.
    if (!resolved && !upstream) checkBody(body);
    return resolved
      ? await withSkills(principal, checkBody(body), resolved, call)
      : await forward(text, call);
  }
}
