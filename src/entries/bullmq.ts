export {
  type BullmqQueue,
  type BullmqWorker,
  type StartBullmqWorker,
  bullmqQueue,
} from '../deployment/queues/bullmq.ts'
