/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The connection of an id over ib_cm as a table, up to the destruction of the ib_cm id: its states,
 * its inputs and its steps. ib_state.[ch], ib_close.c and the unit test include this file, each
 * with its own definition of the macros that it needs, and "make generated" writes it to
 * states.rst:
 *
 * CMX_IB_STATE(name, text)
 * CMX_IB_INPUT(name, text)
 * CMX_IB_STEP(states, inputs, next, act): in each of @states, which are masks by IN(), each of
 * @inputs, by ON(), leads to @next. Then ib_close_@act() of ib_close.c runs, and returns the next
 * input, for example the result of sending a message. A pair without a row does nothing.
 */
#ifndef CMX_IB_STATE
#define CMX_IB_STATE(...)
#endif
#ifndef CMX_IB_INPUT
#define CMX_IB_INPUT(...)
#endif
#ifndef CMX_IB_STEP
#define CMX_IB_STEP(...)
#endif

CMX_IB_STATE(NONE, "there is no ib_cm id, and no request waits")
CMX_IB_STATE(REQ_WAITS, "the REQ or SIDR REQ waits for the send window; there is no ib_cm id yet")
CMX_IB_STATE(REQ_SENT, "the REQ or SIDR REQ was sent")
CMX_IB_STATE(QUIET, "ib_cm repeats no message: a request came, a connection exists or has ended")
CMX_IB_STATE(REP_SENT, "the REP was sent")
CMX_IB_STATE(DREQ_WAITS, "the DREQ waits for the send window, and the consumer for its event")
CMX_IB_STATE(DREQ_SENT, "the DREQ was sent, and the consumer waits for its event")

/* From CLOSING_REP on the id is closing. */
CMX_IB_STATE(CLOSING_REP, "ended for the consumer; the REP was sent, and a DREQ follows the RTU")
CMX_IB_STATE(CLOSING_WAITS, "ended for the consumer; the DREQ waits for the send window")
CMX_IB_STATE(CLOSING_SENT, "ended for the consumer; the DREQ was sent")

/* From RELEASED_REP on the ib_cm id is released: the consumer gets no event any more. */
CMX_IB_STATE(RELEASED_REP, "as CLOSING_REP, released by the consumer")
CMX_IB_STATE(RELEASED_WAITS, "the DREQ waits for the send window; released by the consumer")
CMX_IB_STATE(RELEASED_SENT, "the DREQ was sent; released by the consumer")
CMX_IB_STATE(GIVEN_UP, "released; ib_cm is about to report how the message has ended")
CMX_IB_STATE(DESTROYED, "a work item destroys the ib_cm id")

/* The first one is the result 0. */
CMX_IB_INPUT(SENT, "the REQ, SIDR REQ or DREQ was sent")
CMX_IB_INPUT(NOTHING, "an act has nothing to add")
CMX_IB_INPUT(FULL, "the send window is full: the message waits")
CMX_IB_INPUT(ROOM, "the send window has room for the message that waits")
CMX_IB_INPUT(FAILED, "the message could not be sent")
CMX_IB_INPUT(REQUEST, "a request of the peer has arrived with an ib_cm id")
CMX_IB_INPUT(REP, "the REP was sent")
CMX_IB_INPUT(RTU, "the RTU has arrived")
CMX_IB_INPUT(ENDED, "a message of the peer, or a timeout, has ended our message")
CMX_IB_INPUT(CLOSE, "the consumer gets DISCONNECTED, and the peer has not confirmed the end")
CMX_IB_INPUT(RELEASE, "the consumer releases the connection")
CMX_IB_INPUT(DROP, "as RELEASE, while the device is being removed or the user is near a limit")
CMX_IB_INPUT(LIMIT, "close_seconds are over, or the device is being removed")

#define IN_CLOSING (IN(CLOSING_REP) | IN(CLOSING_WAITS) | IN(CLOSING_SENT))
#define IN_RELEASED (IN(RELEASED_REP) | IN(RELEASED_WAITS) | IN(RELEASED_SENT))

/* A connection, and the attempt to establish it */
CMX_IB_STEP(IN(NONE), ON(REQUEST), QUIET, none)
CMX_IB_STEP(IN(NONE), ON(FULL), REQ_WAITS, none)
CMX_IB_STEP(IN(REQ_WAITS), ON(ROOM), REQ_WAITS, send_req)
CMX_IB_STEP(IN(NONE) | IN(REQ_WAITS), ON(SENT), REQ_SENT, none)
CMX_IB_STEP(IN(REQ_WAITS), ON(FAILED), NONE, none)
CMX_IB_STEP(IN(REQ_WAITS), ON(RELEASE), NONE, drop_req)
CMX_IB_STEP(IN(REQ_SENT), ON(ENDED), QUIET, end)
CMX_IB_STEP(IN(QUIET), ON(REP), REP_SENT, none)
CMX_IB_STEP(IN(REP_SENT), ON(RTU) | ON(ENDED), QUIET, none)

/* Its end, for which the consumer waits */
CMX_IB_STEP(IN(QUIET), ON(FULL), DREQ_WAITS, none)
CMX_IB_STEP(IN(DREQ_WAITS), ON(ROOM), DREQ_WAITS, send_dreq)
CMX_IB_STEP(IN(QUIET) | IN(DREQ_WAITS), ON(SENT), DREQ_SENT, none)
CMX_IB_STEP(IN(DREQ_WAITS), ON(FAILED), QUIET, none)
CMX_IB_STEP(IN(DREQ_WAITS) | IN(DREQ_SENT), ON(ENDED), QUIET, end)

/* Its end, of which the consumer has been told. ib_cm sends no DREQ before the RTU has arrived. */
CMX_IB_STEP(IN(REP_SENT), ON(CLOSE), CLOSING_REP, none)
CMX_IB_STEP(IN(DREQ_WAITS), ON(CLOSE), CLOSING_WAITS, none)
CMX_IB_STEP(IN(DREQ_SENT), ON(CLOSE), CLOSING_SENT, none)
CMX_IB_STEP(IN(CLOSING_REP), ON(RTU), CLOSING_REP, send_dreq)
CMX_IB_STEP(IN(CLOSING_REP), ON(FULL), CLOSING_WAITS, none)
CMX_IB_STEP(IN(CLOSING_WAITS), ON(ROOM), CLOSING_WAITS, send_dreq)
CMX_IB_STEP(IN(CLOSING_REP) | IN(CLOSING_WAITS), ON(SENT), CLOSING_SENT, none)
CMX_IB_STEP(IN(CLOSING_REP) | IN(CLOSING_WAITS), ON(FAILED), QUIET, none)
CMX_IB_STEP(IN_CLOSING, ON(ENDED), QUIET, end)

/* The consumer has released it. The DREQ is repeated until the peer replies, or the limit ends. */
CMX_IB_STEP(IN(CLOSING_REP), ON(RELEASE), RELEASED_REP, start_limit)
CMX_IB_STEP(IN(DREQ_WAITS) | IN(CLOSING_WAITS), ON(RELEASE), RELEASED_WAITS, start_limit)
CMX_IB_STEP(IN(DREQ_SENT) | IN(CLOSING_SENT), ON(RELEASE), RELEASED_SENT, start_limit)
CMX_IB_STEP(IN(RELEASED_WAITS), ON(ROOM), RELEASED_WAITS, send_dreq)
CMX_IB_STEP(IN(RELEASED_REP), ON(RTU), RELEASED_REP, send_dreq)
CMX_IB_STEP(IN(RELEASED_REP), ON(FULL), RELEASED_WAITS, none)
CMX_IB_STEP(IN(RELEASED_REP) | IN(RELEASED_WAITS), ON(SENT), RELEASED_SENT, none)
CMX_IB_STEP(IN(RELEASED_REP) | IN(RELEASED_WAITS), ON(FAILED), DESTROYED, destroy)
CMX_IB_STEP(IN_RELEASED, ON(ENDED), DESTROYED, destroy)

/* Nothing is repeated, or no longer. ib_cm does not report a message that it has cancelled. */
CMX_IB_STEP(IN(QUIET), ON(RELEASE) | ON(DROP), DESTROYED, destroy)
CMX_IB_STEP(IN(DREQ_WAITS) | IN(CLOSING_WAITS), ON(DROP), DESTROYED, destroy)
CMX_IB_STEP(IN(RELEASED_WAITS), ON(LIMIT), DESTROYED, destroy)
CMX_IB_STEP(IN(REQ_SENT) | IN(REP_SENT), ON(RELEASE) | ON(DROP), GIVEN_UP, give_up)
CMX_IB_STEP(IN(DREQ_SENT) | IN(CLOSING_REP) | IN(CLOSING_SENT), ON(DROP), GIVEN_UP, give_up)
CMX_IB_STEP(IN(RELEASED_REP) | IN(RELEASED_SENT), ON(LIMIT), GIVEN_UP, give_up)
CMX_IB_STEP(IN(GIVEN_UP), ON(ENDED), DESTROYED, destroy)

#undef IN_CLOSING
#undef IN_RELEASED
#undef CMX_IB_STATE
#undef CMX_IB_INPUT
#undef CMX_IB_STEP
