"""Front ends of others kept in step with a campaign while people label in them.

A `FrontEnd` is one project of one tool (`label_studio`, `argilla`): what people see and what they
answered. A `Sync` (`loop`) takes the answers into the store and shows everybody what the campaign
gives them next. Files of these tools do not belong here (`exchange`), nor what a worker gets
(`campaign`).
"""
