/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A membership at the SA as a table: its states, its inputs and its steps. member.[ch], mcast_sa.c
 * and the unit test include this file, each with its own definition of the macros that it needs,
 * and "make generated" writes it to states.rst:
 *
 * CMX_MEMBER_STATE(name, text)
 * CMX_MEMBER_INPUT(name, text)
 * CMX_MEMBER_STEP(states, inputs, next, act): in each of @states, which are masks by IN(), each of
 * @inputs, by ON(), leads to @next. Then sa_member_@act() of mcast_sa.c runs. It may return the
 * next input, for example what the attempt to send a request has led to. A pair without a row does
 * nothing. Every failure has a row, also where none is known to occur.
 */
#ifndef CMX_MEMBER_STATE
#define CMX_MEMBER_STATE(...)
#endif
#ifndef CMX_MEMBER_INPUT
#define CMX_MEMBER_INPUT(...)
#endif
#ifndef CMX_MEMBER_STEP
#define CMX_MEMBER_STEP(...)
#endif

CMX_MEMBER_STATE(WANTS_JOIN, "the join waits for its turn in the queue of the port")
CMX_MEMBER_STATE(JOIN_SENT, "the join was sent")
CMX_MEMBER_STATE(PROBED, "the join was refused; a probe shows whether an SA did so")
CMX_MEMBER_STATE(WANTS_RETRY, "the join failed; waits until it may be sent again")
CMX_MEMBER_STATE(MEMBER, "the SA has accepted the join; the event may still be an error")
CMX_MEMBER_STATE(LOST, "not a member any more; waits until it may join again")
CMX_MEMBER_STATE(REJOIN_SENT, "the join of a lost membership was sent")
CMX_MEMBER_STATE(UNREPORTED, "a member again; the report waits")
CMX_MEMBER_STATE(REJOINED, "a member again, and reported; the report can be repeated")
CMX_MEMBER_STATE(FAILED, "not a member; the consumer knows it and has not left yet")
CMX_MEMBER_STATE(LEFT, "the group was left; the reply to a join or a probe is pending")
CMX_MEMBER_STATE(WANTS_LEAVE, "the leave waits for its turn")
CMX_MEMBER_STATE(LEAVE_SENT, "the leave was sent; its end is polled")
CMX_MEMBER_STATE(WANTS_CLEANUP, "left without a membership; a stale record at the SA is removed")
CMX_MEMBER_STATE(ENDED, "nothing is left to do")

/* The first ones are the status of a request, with OK for 0. */
CMX_MEMBER_INPUT(OK, "the request has succeeded")
CMX_MEMBER_INPUT(REFUSED, "it was refused with EINVAL, by the SA or by a port without an SA")
CMX_MEMBER_INPUT(SILENT, "no SA has answered it, or the membership was lost")
CMX_MEMBER_INPUT(ERROR, "it failed for another reason, or none was needed")
CMX_MEMBER_INPUT(NOTHING, "an act has nothing to add")
CMX_MEMBER_INPUT(WAKE, "the turn has come, or the time that was waited for")
CMX_MEMBER_INPUT(SENT, "the request could be sent")
CMX_MEMBER_INPUT(OFF, "MCAST_REJOIN is off: it was cleared, or never set")
CMX_MEMBER_INPUT(AGAIN, "the consumer asks for another report of the rejoin")
CMX_MEMBER_INPUT(LEAVE, "the consumer leaves the group, or the id ends or loses its device")
CMX_MEMBER_INPUT(GONE, "the device is being removed; LEAVE comes before")

#define ON_FAILURE (ON(REFUSED) | ON(SILENT) | ON(ERROR))
#define IN_GROUP (IN(MEMBER) | IN(UNREPORTED) | IN(REJOINED))

/* The first join: the consumer waits for its event. */
CMX_MEMBER_STEP(IN(WANTS_JOIN), ON(WAKE), WANTS_JOIN, join)
CMX_MEMBER_STEP(IN(WANTS_RETRY), ON(WAKE), WANTS_RETRY, rejoin)
CMX_MEMBER_STEP(IN(WANTS_JOIN) | IN(WANTS_RETRY), ON(SENT), JOIN_SENT, none)
CMX_MEMBER_STEP(IN(JOIN_SENT), ON(OK), MEMBER, report_join)
CMX_MEMBER_STEP(IN(JOIN_SENT), ON(REFUSED), PROBED, probe)
CMX_MEMBER_STEP(IN(WANTS_JOIN) | IN(WANTS_RETRY) | IN(PROBED), ON(REFUSED), FAILED, report_error)
CMX_MEMBER_STEP(IN(WANTS_JOIN) | IN(JOIN_SENT) | IN(PROBED), ON(ERROR), FAILED, report_error)
CMX_MEMBER_STEP(IN(WANTS_JOIN) | IN(JOIN_SENT) | IN(PROBED), ON(SILENT), WANTS_RETRY, retry)
CMX_MEMBER_STEP(IN(WANTS_RETRY), ON(SILENT) | ON(ERROR), WANTS_RETRY, retry)
CMX_MEMBER_STEP(IN(WANTS_RETRY), ON(OFF), FAILED, report_error)

/* The loss of a membership, and what follows with MCAST_REJOIN */
CMX_MEMBER_STEP(IN_GROUP, ON_FAILURE, LOST, lose)
CMX_MEMBER_STEP(IN(LOST), ON(WAKE), LOST, rejoin)
CMX_MEMBER_STEP(IN(LOST), ON(SENT), REJOIN_SENT, none)
CMX_MEMBER_STEP(IN(LOST) | IN(REJOIN_SENT), ON_FAILURE, LOST, retry)
CMX_MEMBER_STEP(IN(LOST), ON(OFF), FAILED, report_error)
CMX_MEMBER_STEP(IN(REJOIN_SENT), ON(OK), UNREPORTED, restore)
CMX_MEMBER_STEP(IN(UNREPORTED), ON(WAKE), UNREPORTED, report_rejoin)
CMX_MEMBER_STEP(IN(UNREPORTED), ON(OK), REJOINED, none)
CMX_MEMBER_STEP(IN(REJOINED), ON(AGAIN), UNREPORTED, wait)

/* The end. In the states from LEFT on, the id's lock is not held, and no event is posted. */
CMX_MEMBER_STEP(IN(JOIN_SENT) | IN(PROBED) | IN(REJOIN_SENT), ON(LEAVE), LEFT, none)
CMX_MEMBER_STEP(IN_GROUP, ON(LEAVE), WANTS_LEAVE, none)
CMX_MEMBER_STEP(IN(WANTS_JOIN) | IN(WANTS_RETRY) | IN(LOST) | IN(FAILED), ON(LEAVE),
		WANTS_CLEANUP, none)
CMX_MEMBER_STEP(IN(LEFT), ON(OK), WANTS_LEAVE, leave)
CMX_MEMBER_STEP(IN(WANTS_LEAVE), ON(WAKE), WANTS_LEAVE, leave)
CMX_MEMBER_STEP(IN(WANTS_LEAVE), ON(SENT), LEAVE_SENT, none)
CMX_MEMBER_STEP(IN(LEAVE_SENT), ON(WAKE), LEAVE_SENT, poll)
CMX_MEMBER_STEP(IN(LEAVE_SENT), ON(OK) | ON_FAILURE, ENDED, end)
CMX_MEMBER_STEP(IN(LEFT) | IN(WANTS_LEAVE), ON_FAILURE, WANTS_CLEANUP, clean_up)
CMX_MEMBER_STEP(IN(WANTS_CLEANUP), ON(WAKE) | ON(SILENT), WANTS_CLEANUP, clean_up)
CMX_MEMBER_STEP(IN(WANTS_CLEANUP), ON(SENT), LEFT, none)
CMX_MEMBER_STEP(IN(WANTS_CLEANUP), ON(REFUSED) | ON(ERROR), ENDED, end)
CMX_MEMBER_STEP(IN(LEFT) | IN(WANTS_LEAVE) | IN(LEAVE_SENT) | IN(WANTS_CLEANUP), ON(GONE),
		ENDED, end)

#undef ON_FAILURE
#undef IN_GROUP
#undef CMX_MEMBER_STATE
#undef CMX_MEMBER_INPUT
#undef CMX_MEMBER_STEP
