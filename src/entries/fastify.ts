export {
  type FastifyMount,
  type FastifyOptions,
  type FastifyService,
  type BadUrlOptions,
  type FrameworkErrors,
  rowgateFastify,
  handleBadUrls,
} from '../http/fastify.ts'
