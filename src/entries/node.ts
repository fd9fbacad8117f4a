export type { ForwardedHeaders, ProxyOptions } from '../http/trusted-proxies.ts'
export { toNodeHandler, type NodeHandler, type NodeHandlerOptions } from '../http/node-handler.ts'
export { serve, type ServedService, type ServeOptions, type Serving } from '../http/serve.ts'
