export {
  type TestClientOptions,
  type TestRequest,
  type TestReply,
  type TestClient,
  createTestClient,
} from '../http/test-client.ts'
