/**
 * `trivet/openapi`: tools of a REST API that has an OpenAPI document.
 *
 * @module
 */
export { openApi, type OpenApiOptions, type OpenApiTools } from "./openapi/open_api.ts";
export { OpenApiError } from "./openapi/document.ts";
export type { Operation, SkippedOperation } from "./openapi/operation.ts";
export type { Select, Selection } from "./openapi/select.ts";
export type { ApiAccess, ApiRequest, Authorize, Credential } from "./openapi/access.ts";
export type { Requirement, SecurityScheme } from "./openapi/security.ts";
export {
  type AnswerStore,
  keepAnswers,
  type KeptAnswer,
  type KeptAnswersOptions,
} from "./openapi/kept_answers.ts";
export type { Fetch } from "./openapi/send.ts";
