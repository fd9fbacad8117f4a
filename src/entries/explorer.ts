export { type ExplorerOptions, explorer } from '../explorer/explorer.ts'
