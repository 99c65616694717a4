/**
 * Header fields of JSON responses with tokens or other secrets (https://www.rfc-editor.org/rfc/rfc6749#section-5.1).
 *
 * @module
 */
import { type Fields, jsonFields, NO_STORE_FIELDS } from "../../http/response.ts";

export const NO_STORE_JSON: Fields = jsonFields(...NO_STORE_FIELDS);
