/**
 * The functions of the AI SDK that tests use, with own types: Deno's type checker fails on the types of the packages, so
 * that they are imported by a variable. Only tests import this.
 *
 * @module
 */

interface UploadRequest {
  readonly api: unknown;
  readonly files: readonly {
    readonly path: string;
    readonly data: Uint8Array | string | { readonly type: "text"; readonly text: string };
  }[];
  readonly displayTitle?: string;
}

interface UploadedSkill {
  readonly providerReference: Readonly<Record<string, string>>;
  readonly displayTitle?: string;
  readonly name?: string;
  readonly description?: string;
  readonly latestVersion?: string;
  readonly providerMetadata?: unknown;
  readonly warnings: readonly unknown[];
}

interface AiSdk {
  uploadSkill(request: UploadRequest): Promise<UploadedSkill>;
  generateText(options: object): Promise<{
    readonly text: string;
    readonly finishReason: string;
    readonly warnings: readonly unknown[];
    readonly content: readonly { readonly type: string }[];
    readonly providerMetadata: unknown;
  }>;
  streamText(options: object): {
    readonly textStream: AsyncIterable<string>;
    readonly providerMetadata: Promise<unknown>;
  };
}

interface AnthropicProvider {
  (model: string): unknown;
  skills(): unknown;
  readonly tools: { codeExecution_20250825(): unknown };
}

interface AnthropicPackage {
  createAnthropic(settings: { readonly apiKey: string; readonly baseURL: string }): AnthropicProvider;
}

const load = (name: string): Promise<unknown> => import(name);

const ai = await load("ai") as AiSdk;
const anthropic = await load("@ai-sdk/anthropic") as AnthropicPackage;

export const uploadSkill: AiSdk["uploadSkill"] = ai.uploadSkill;
export const generateText: AiSdk["generateText"] = ai.generateText;
export const streamText: AiSdk["streamText"] = ai.streamText;
export const createAnthropic: AnthropicPackage["createAnthropic"] = anthropic.createAnthropic;
