export { type FetchHandlerOptions, type FetchHandler, toFetchHandler } from '../http/fetch.ts'
