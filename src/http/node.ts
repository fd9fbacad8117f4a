export type { ForwardedHeaders, ProxyOptions } from './trusted-proxies.ts'
export { toNodeHandler, type NodeHandler, type NodeHandlerOptions } from './node-handler.ts'
export { serve, type ServedService, type ServeOptions, type Serving } from './serve.ts'
