export {
  type OpenApiDocumentOptions,
  type DefinitionToDescribe,
  openApiDocument,
} from '../openapi/openapi.ts'
export { openapi, toYaml } from '../openapi/page.ts'
export type { JsonSchema } from '../definition/schema.ts'
export type { OpenApiDocument } from '../openapi/document.ts'
export type { OpenApiOptions } from '../openapi/options.ts'
