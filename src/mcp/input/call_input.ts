/**
 * How a call asks its client: elicitation, sampling and roots, and the values that it keeps between its runs
 * (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation). Loads with the first such request.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import type { Json } from "../../store/store.ts";
import type { Telemetry, TraceContext, TracedCall } from "../../http/telemetry.ts";
import { readResultObject, readRootsResult, readSamplingResult } from "./client_result.ts";
import type {
  ClientFeature,
  FormAnswer,
  FormRequest,
  Root,
  SamplingAnswer,
  SamplingRequest,
  UrlAnswer,
  UrlRequest,
} from "../context.ts";
import { MODERN } from "../era.ts";
import { MissingCapabilityError } from "../error.ts";
import type { SchemaConverter } from "../schema/schema_converter.ts";
import type { AnySchema } from "../schema/standard_schema.ts";
import { requiredCapabilities } from "./client_feature.ts";
import { readElicitation, writeElicitation } from "./elicitation.ts";
import { Inputs } from "./inputs.ts";

/** What asking uses of a call. */
export interface InputCall extends TracedCall {
  readonly signal: AbortSignal;
  readonly schemas: SchemaConverter;
  readonly host: TracedCall["host"] & { readonly telemetry: Telemetry | undefined };
  readonly sendRequest:
    | ((method: string, params: unknown, signal: AbortSignal) => Promise<unknown>)
    | undefined;
  /** Input from the client for earlier runs, where a request for input ends the run. */
  inputs: Inputs | undefined;
  can(feature: ClientFeature): boolean;
}

export async function elicit(
  call: InputCall,
  request: FormRequest | UrlRequest,
): Promise<FormAnswer<AnySchema> | UrlAnswer> {
  const { schemas } = call;
  const isUrl = request.mode === "url";
  if (!isUrl && !schemas.isReadyFor([request.schema])) await schemas.prepare([request.schema]);
  const { params, schema } = writeElicitation(request, call.revision, () => randomId(""), schemas.convert);
  const feature = isUrl ? "elicitation.url" : "elicitation";
  const answer = await requestInput(call, feature, request.key, "elicitation/create", params);
  return await readElicitation(answer, schema);
}

export async function sample(call: InputCall, { key, ...params }: SamplingRequest): Promise<SamplingAnswer> {
  if (params.tools) requireFeature(call, "sampling.tools");
  return readSamplingResult(await requestInput(call, "sampling", key, "sampling/createMessage", params));
}

export async function listRoots(
  call: InputCall,
  { key }: { readonly key?: string },
): Promise<readonly Root[]> {
  return readRootsResult(await requestInput(call, "roots", key, "roots/list", undefined));
}

export function once(call: InputCall, key: string, make: () => unknown): Promise<Json> {
  return (call.inputs ??= new Inputs()).once(key, make);
}

/** @throws {MissingCapabilityError} */
function requireFeature(call: InputCall, feature: ClientFeature): void {
  if (!call.can(feature)) throw new MissingCapabilityError(requiredCapabilities(feature));
}

async function requestInput(
  call: InputCall,
  feature: ClientFeature,
  key: string | undefined,
  method: string,
  params: object | undefined,
): Promise<object> {
  requireFeature(call, feature);
  // From 2026-07-28 on a request for input ends the run, which is repeated with the input.
  if (call.revision >= MODERN) {
    const traced = withTrace(params, call.trace);
    const request = traced === undefined ? { method } : { method, params: traced };
    return (call.inputs ??= new Inputs()).ask(key, request) as object;
  }
  // The client declared the capability but cannot be reached: it has no session, or does not accept streams.
  const { sendRequest, host: { telemetry } } = call;
  if (!sendRequest) throw new MissingCapabilityError(requiredCapabilities(feature));
  // A call that was cancelled asks for nothing.
  call.signal.throwIfAborted();
  const send = (trace?: TraceContext) => sendRequest(method, withTrace(params, trace), call.signal);
  return readResultObject(
    await (telemetry ? telemetry.traceClientRequest(call, method, send) : send()),
    method,
  );
}

/** The params of a request with the trace context in `_meta` (2026-07-28, basic, OpenTelemetry trace context). */
function withTrace(params: object | undefined, trace: TraceContext | undefined): object | undefined {
  return trace ? { ...params, _meta: trace } : params;
}
