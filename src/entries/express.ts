export {
  type ExpressHandlerOptions,
  type ExpressRequest,
  type ExpressHandler,
  toExpressHandler,
} from '../http/express.ts'
