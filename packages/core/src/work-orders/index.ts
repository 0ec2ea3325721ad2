// The door of this room: work orders, the part of a person in a recovery, and the tickets that outside systems have for them.

export {
  failingTickets,
  isTold as isTicketTold,
  newTicket,
  reportTicket,
  stepOrMakeTicket,
  stepTicket,
  type Ticket,
  type TicketThere,
  ticketFailed,
  ticketFound,
  ticketId,
  ticketsIn,
  ticketTold,
} from './ticket.ts'
export {
  type ClosedBecause,
  closed,
  closedByItself,
  commented,
  type Deaths,
  died,
  isClosed,
  newWorkOrder,
  reopened as reopenedWorkOrder,
  taken,
  WORK_ORDER_STATUSES,
  type WorkOrder,
  type WorkOrderStatus,
  type WorkOrderSubject,
  workOrderId,
} from './work-order.ts'
export { openWorkOrder, stepWorkOrder, workOrdersIn } from './work-order-store.ts'
