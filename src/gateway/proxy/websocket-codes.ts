/** Opcodes of frames (RFC 6455, 5.2); those of control frames begin with Close. */
export const continuationOpcode = 0;
export const textOpcode = 1;
export const closeOpcode = 8;
export const pingOpcode = 9;
export const pongOpcode = 10;

/** Close codes (RFC 6455, 7.4.1). */
export const normalCode = 1000;
export const goingAwayCode = 1001;
export const protocolErrorCode = 1002;
export const unsupportedDataCode = 1003;
export const noStatusCode = 1005;
export const abnormalCode = 1006;
export const invalidPayloadCode = 1007;
export const policyViolationCode = 1008;
export const tooLargeCode = 1009;
export const internalErrorCode = 1011;
